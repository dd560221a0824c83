#!/usr/bin/env python3
"""tare against real servers, quick enough for every change. usage: quick.py PROGRAM [TEST...]"""
import csv
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import ROOT, counted, ledgers, load_json, main, shares  # noqa: E402

REDIS = "redis:hash,redis:hash@index,redis:hash@listpack,redis:string+json,redis:string+msgpack"
REFERENCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference_redis.csv")
ENCODING_OF_SHAPE = {"ycsb": "redis:hash", "ycsb_index": "redis:hash@index",
                     "ycsb_listpack": "redis:hash@listpack", "s1121": "redis:string+json"}


class RedisServer:
    """A redis-server that tare did not start."""

    def __init__(self, tare, *options):
        self.folder = tare.path("foreign")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.options = list(options)
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
             "--dir", self.folder] + self.options, stdout=subprocess.DEVNULL)
        for _ in range(100):
            if self.client("ping").strip():
                return
            time.sleep(0.05)
        raise AssertionError("redis-server did not start")

    def client(self, *words, password=None):
        command = ["redis-cli", "-p", str(self.port)]
        if password:
            command += ["--no-auth-warning", "-a", password]
        return subprocess.run(command + list(words), capture_output=True, text=True,
                              check=False).stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def one_line(run, code, *parts):
    """The error is one line that holds the parts."""
    assert run.code == code, run
    lines = run.err.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("tare: "), run
    for part in parts:
        assert part in lines[0], "%r not in %r" % (part, lines[0])


def redis_ledgers_close(tare):
    path = tare.path("redis.csv")
    run = tare.run("run", "-n", "50000", "-e", REDIS, "--server", "redis=redis-server",
                   "--export-csv", path)
    assert run.code == 0, run
    cells = ledgers(path)
    assert len(cells) == 5
    with open(REFERENCE, newline="") as file:
        reference = {ENCODING_OF_SHAPE[r["shape"]]: r for r in csv.DictReader(file)
                     if r["server"] == "7.0.15" and r["shape"] in ENCODING_OF_SHAPE}
    for (cell, _), accounts in cells.items():
        of_allocated, of_resident = shares(accounts)
        assert of_allocated <= 0.5, "%s: %.3f %% of allocated" % (cell, of_allocated)
        assert of_resident <= 2, "%s: %.3f %% of resident" % (cell, of_resident)
        if cell in reference:
            expected = float(reference[cell]["allocated"]) * 50000
            got = accounts["total.allocated"]["bytes"]
            assert abs(got - expected) <= max(0.002 * expected, 32768), (cell, got, expected)
    plan_agrees(tare, cells, 50000, REDIS, "redis=redis-server", 0.002)


def plan_agrees(tare, cells, records, encodings, server, share):
    """What `plan` says of the same cells, beside what was measured."""
    path = tare.path("plan.csv")
    run = tare.run("plan", "-n", str(records), "-e", encodings, "--server", server, "--export-csv",
                   path)
    assert run.code == 0, run
    planned = ledgers(path)
    for key, accounts in cells.items():
        assert counted(accounts) == counted(planned[key]), key
        got = accounts["total.allocated"]["bytes"]
        expected = planned[key]["total.allocated"]["bytes"]
        assert abs(got - expected) <= max(share * got, 32768), (key, got, expected)
        total = planned[key]["total.resident"]
        got = accounts["total.resident"]["bytes"]
        assert int(total["bytes_low"]) <= got <= int(total["bytes_high"]), (key, got, total)


def one_seed_one_result(tare):
    results = []
    for name in ("first.csv", "second.csv"):
        run = tare.run("run", "-n", "20000", "-d", "ycsb:fieldlengthdistribution=uniform", "-e",
                       "redis:hash,mongodb:document", "--seed", "7", "--export-csv",
                       tare.path(name))
        assert run.code == 0, run
        results.append(ledgers(tare.path(name)))
    for key, first in results[0].items():
        second = results[1][key]
        assert counted(first) == counted(second), key
        if key[0].startswith("redis"):
            a, b = (r["total.allocated"]["bytes"] for r in (first, second))
            assert abs(a - b) <= max(0.001 * a, 16384), (key, a, b)


def mongodb_ledgers_close(tare):
    path, json_path = tare.path("mongodb.csv"), tare.path("mongodb.json")
    run = tare.run("run", "-n", "100000", "-e", "mongodb:document", "--server",
                   "mongodb=mongod,engine=memory", "--server", "mongodb=mongod,engine=disk",
                   "--export-csv", path, "--export-json", json_path)
    assert run.code == 0, run
    cells = ledgers(path)
    assert len(cells) == 2
    for (cell, _), accounts in cells.items():
        of_allocated, of_resident = shares(accounts)
        assert of_allocated <= 2, "%s: %.3f %% of allocated" % (cell, of_allocated)
        assert of_resident <= 2, "%s: %.3f %% of resident" % (cell, of_resident)
    for cell in load_json(json_path)["cells"]:
        bson = sum(counted(cells[(cell["name"], "settled")]).values())
        size = cell["states"][0]["samples"]["collStats.size"]
        assert size == bson, "%s: collStats.size %r, BSON made %d" % (cell["name"], size, bson)


def documents_that_left_the_cache_are_told(tare):
    """A cache of 256 MB does not hold 369 MB of documents: the ledger closes on what is there."""
    path, json_path = tare.path("evicted.csv"), tare.path("evicted.json")
    run = tare.run("run", "-n", "30000", "-d", "kv:minlength=4096,maxlength=20480", "-e",
                   "mongodb:document", "--server", "mongodb=mongod,engine=disk", "--set",
                   "wiredTigerCacheSizeGB=0.25", "--export-csv", path, "--export-json", json_path)
    assert run.code == 0 and "are not the whole footprint" in run.out, run
    (cell, _), accounts = ledgers(path).popitem()
    of_allocated, of_resident = shares(accounts)
    assert of_allocated <= 4 and of_resident <= 4, (cell, of_allocated, of_resident)
    missing = -accounts["not in cache"]["bytes"]
    size = load_json(json_path)["cells"][0]["states"][0]["samples"]["collStats.size"]
    assert size - 270e6 < missing < size, (missing, size)


def every_encoding_closes(tare):
    """Each step in a chain; what steps keep once is a key or a document of its own."""
    redis = ("redis:hash+short,redis:string+cbor,redis:string+bson+snappy,"
             "redis:string+short+json+gzip=1,redis:string+msgpack-array+zstd-dict,"
             "redis:string+short+msgpack+zstd=9")
    mongodb = "mongodb:document+short,mongodb:blob+msgpack-array+lz4@id=number,mongodb:blob+json+zstd-dict"
    path, json_path = tare.path("steps.csv"), tare.path("steps.json")
    run = tare.run("run", "-n", "20000", "-e", redis + "," + mongodb, "--server",
                   "redis=redis-server", "--server", "mongodb=mongod,engine=memory",
                   "--export-csv", path, "--export-json", json_path)
    assert run.code == 0, run
    cells = ledgers(path)
    assert len(cells) == 9
    for (cell, _), accounts in cells.items():
        of_allocated, of_resident = shares(accounts)
        limit = 0.1 if cell.startswith("redis") else 2
        assert of_allocated <= limit and of_resident <= 2, (cell, of_allocated, of_resident)
    plan_agrees(tare, {key: value for key, value in cells.items() if key[0].startswith("redis")},
                20000, redis, "redis=redis-server", 0.002)
    for cell in load_json(json_path)["cells"]:
        samples = cell["states"][0]["samples"]
        if cell["name"].startswith("mongodb"):
            tables = 1 if re.search("short|-array|-dict", cell["name"]) else 0
            assert samples["collStats.count"] == 20000 + tables, cell["name"]
            assert samples["collStats.size"] == sum(
                counted(cells[(cell["name"], "settled")]).values()), cell["name"]


def a_process_of_its_own_holds_records(tare):
    """memory: closes to .1 %, plan says the same rows, and updates of the heap are all seen."""
    path, json_path = tare.path("memory.csv"), tare.path("memory.json")
    encodings = "memory:json,memory:objects,memory:objects+short,memory:bytes+msgpack-array+zstd"
    for dataset, records in (("ycsb", 50000), ("article", 2000), ("article:identical", 2000),
                             ("entity", 5163), ("player:varied", 100000)):
        run = tare.run("run", "-n", str(records), "-d", dataset, "-e", encodings, "--export-csv",
                       path, "--export-json", json_path)
        assert run.code == 0, run
        cells = ledgers(path)
        assert len(cells) == 4
        planned = tare.path("memory-plan.csv")
        run = tare.run("plan", "-n", str(records), "-d", dataset, "-e", encodings, "--export-csv",
                       planned)
        assert run.code == 0, run
        planned = ledgers(planned)
        for key, accounts in cells.items():
            of_allocated, of_resident = shares(accounts)
            assert of_allocated <= 0.1 and of_resident <= 0.1, (key, of_allocated, of_resident)
            for account, row in accounts.items():
                if row["stage"] in ("payload", "encoding", "structure", "rounding"):
                    expected = planned[key][account]["bytes"]
                    assert abs(row["bytes"] - expected) <= 0.002 * abs(expected), (key, row)
            total = planned[key]["total.resident"]
            assert int(total["bytes_low"]) <= accounts["total.resident"]["bytes"] <= \
                int(total["bytes_high"]), (key, total, accounts["total.resident"])
        for cell in load_json(json_path)["cells"]:
            assert cell["states"][0]["samples"]["memory.keys"] == records + (
                1 if re.search("short|-array", cell["name"]) else 0)
        tare.expect_clean()
    run = tare.run("run", "-n", "20000", "-e", "memory:json,memory:objects,memory:bytes+msgpack",
                   "--steps", "load,update,read:operations=5k,miss,workload=a:threads=8,workload=d",
                   "--export-csv", path, "--export-json", json_path)
    assert run.code == 0, run
    for (cell, state), accounts in ledgers(path).items():
        assert max(shares(accounts)) <= 0.1, (cell, state, shares(accounts))


def mongodb_ids_and_indexes_are_modelled(tare):
    path = tare.path("indexes.csv")
    run = tare.run("run", "-n", "100000", "-d", "player:varied", "-e",
                   "mongodb:document@id=objectid@index=key,mongodb:document@id=number@index=level",
                   "--export-csv", path)
    assert run.code == 0, run
    for (cell, _), accounts in ledgers(path).items():
        assert accounts["secondary index"]["bytes"] > 100000 * 50, cell
        of_allocated, _ = shares(accounts)
        assert of_allocated <= 2, "%s: %.3f %% of allocated" % (cell, of_allocated)
    run = tare.run("run", "-n", "10", "-e", "mongodb:document@index=no such")
    assert run.code == 0 and "all of its keys are null" in run.out, run


def a_block_compressor_changes_the_disk_alone(tare):
    allocated, stored = {}, {}
    for name in ("none", "zlib"):
        path = tare.path("compressor.json")
        run = tare.run("run", "-n", "100000", "-d", "player:varied", "-e", "mongodb:document",
                       "--server", "mongodb=mongod,engine=disk", "--set",
                       "wiredTigerCollectionBlockCompressor=" + name, "--export-json", path)
        assert run.code == 0 and "on disk: collStats.storageSize" in run.out, run
        state = load_json(path)["cells"][0]["states"][0]
        rows = {row["account"]: row["bytes"] for row in state["accounts"]}
        allocated[name] = rows["total.allocated"]
        stored[name] = state["samples"]["collStats.storageSize"]
    assert stored["zlib"] < stored["none"] / 2, stored
    assert abs(allocated["zlib"] - allocated["none"]) < 0.02 * allocated["none"], allocated


def small_counts_and_empty_fields(tare):
    for n in ("0", "2"):
        path = tare.path("small.csv")
        run = tare.run("run", "-n", n, "-e", "redis:hash@index,mongodb:document", "--export-csv",
                       path)
        assert run.code == 0, run
        assert len(ledgers(path)) == 2
    run = tare.run("run", "-n", "1000", "-d", "ycsb:fieldlength=0", "-e",
                   "redis:hash@index,redis:string+json,mongodb:document", "--export-csv",
                   tare.path("small.csv"))
    assert run.code == 0, run
    for accounts in ledgers(tare.path("small.csv")).values():
        assert accounts["values"]["bytes"] == 0


def a_rehash_is_over_where_it_is_settled(tare):
    """Past 2^20 keys the old key table, 8 MiB, would stand beside the new one for minutes; past
    2^18 that of expiry times, 2 MiB."""
    path = tare.path("rehash.csv")
    for records, encoding in (("1100000", "redis:string"), ("300000", "redis:string@ttl=864000")):
        run = tare.run("run", "-n", records, "-d", "kv:minlength=20,maxlength=20", "-e", encoding,
                       "-q", "--export-csv", path)
        assert run.code == 0, run
        accounts, = ledgers(path).values()
        missed = accounts["unattributed.allocated"]["bytes"]
        assert abs(missed) <= accounts["total.allocated"]["bytes"] // 1000, (encoding, missed)


def hashes_of_each_kind_tell_their_branch(tare):
    """Entities are of several types, and the hash seed treats each in its own way."""
    path, json_path = tare.path("kinds.csv"), tare.path("kinds.json")
    run = tare.run("run", "-n", "20000", "-d", "entity", "-e", "redis:hash", "-q", "--export-csv",
                   path, "--export-json", json_path)
    assert run.code == 0, run
    accounts, = ledgers(path).values()
    missed = accounts["unattributed.allocated"]["bytes"]
    assert abs(missed) <= accounts["total.allocated"]["bytes"] // 1000, missed
    base = load_json(json_path)["cells"][0]["base"]
    signatures = {value for name, value in base.items() if name.endswith(".signature")}
    assert len(signatures) == 8, signatures  # as many as there are types


def steps_close_a_ledger_each(tare):
    path = tare.path("steps.csv")
    run = tare.run("run", "-n", "5000", "-e", "redis:hash", "--steps", "load,settle,read",
                   "--export-csv", path)
    assert run.code == 0, run
    assert sorted(s for _, s in ledgers(path)) == ["loaded", "read", "settled"]


def redis_reloads_and_restarts(tare):
    path, json_path = tare.path("states.csv"), tare.path("states.json")
    run = tare.run("run", "-n", "30000", "-e", "redis:hash@index", "--steps",
                   "load,settle,reload,restart", "--export-csv", path, "--export-json", json_path)
    assert run.code == 0, run
    cells = ledgers(path)
    assert [state for _, state in cells] == ["loaded", "settled", "reloaded", "restarted"]
    for (cell, state), accounts in cells.items():
        of_allocated, of_resident = shares(accounts)
        assert of_allocated <= 0.5, (state, of_allocated)
        assert of_resident <= 2, (state, of_resident)
        read_from_file = state in ("reloaded", "restarted")
        assert ("field table, old" in accounts) != read_from_file, state
        settings = accounts["total.allocated"]["settings"].split()
        assert ("made_by=rdb" in settings) == read_from_file, (state, settings)
    (cell,) = load_json(json_path)["cells"]
    files = [state["samples"].get("file.rdb", 0) for state in cell["states"]]
    assert files[2] > 30000 * 500 and files[3] > 30000 * 500, files
    assert cell["states"][3]["base"]["info.memory.used_memory"] == \
        cells[("redis:hash@index", "restarted")]["base.allocated"]["bytes"]
    plan = tare.path("given.csv")
    run = tare.run("plan", "-n", "30000", "-e", "redis:hash@index", "--server",
                   "redis=redis-server", "--given", "made_by=rdb", "--export-csv", plan)
    assert run.code == 0, run
    (planned,) = ledgers(plan).values()
    for name, row in cells[("redis:hash@index", "restarted")].items():
        if row["stage"] in ("structure", "rounding"):
            assert planned[name]["bytes"] == row["bytes"], name


def workloads_of(path):
    """{(cell, state): workload} of a JSON report."""
    return {(cell["name"], state["state"]): state["workload"]
            for cell in load_json(path)["cells"] for state in cell["states"]
            if "workload" in state}


def workload_is_whole(name, workload, operations, threads):
    assert workload["operations"] == operations and workload["threads"] == threads, name
    # What is asked for is there, and what is to be missed is not.
    assert workload["not_found"] == 0, name
    for figure in ("seconds", "client_cpu_seconds", "server_cpu_seconds"):
        assert workload[figure] > 0, (name, figure)
    for latency in workload["latencies"]:
        values = [latency[n + "_ns"] for n in ("p50", "p95", "p99", "p99.9", "max")]
        assert 1000 < values[0] and values == sorted(values), (name, latency)
    assert sum(l["operations"] for l in workload["latencies"][1:]) in (0, operations), name
    assert len(workload["curve"]) >= 2 and workload["curve"][-1]["operations"] == operations


def workloads_read_update_and_miss(tare):
    path, json_path = tare.path("workload.csv"), tare.path("workload.json")
    run = tare.run("run", "-n", "5000", "-e", "redis:string+json,mongodb:document", "--steps",
                   "load,update,miss,workload=d:threads=3:operations=4k", "--export-csv", path,
                   "--export-json", json_path)
    assert run.code == 0, run
    cells, found = ledgers(path), workloads_of(json_path)
    assert len(found) == 2 * 3, sorted(found)
    for name, workload in found.items():
        mixed = name[1] == "workload-d@3"
        workload_is_whole(name, workload, 4000 if mixed else 5000, 3 if mixed else 1)
        # Lengths stay, so the ledger of what was written does; inserts come on top.
        records = int(cells[name]["key"]["records"])
        if mixed:
            assert 5150 <= records <= 5250, records
        else:
            assert records == 5000
            assert counted(cells[name]) == counted(cells[name[0], "loaded"]), name
        if name[0].startswith("redis"):
            of_allocated, _ = shares(cells[name])
            assert of_allocated <= 0.5, (name, of_allocated)


def workloads_know_every_keyed_encoding(tare):
    json_path = tare.path("workload.json")
    run = tare.run("run", "-n", "1000", "-d", "player", "-e",
                   "redis:hash,redis:bucket=100+msgpack,mongodb:blob+cbor@id=objectid", "--steps",
                   "load,update:pipeline=1,read:threads=2:distribution=latest", "--export-json",
                   json_path)
    assert run.code == 0, run
    found = workloads_of(json_path)
    assert len(found) == 3 * 2, sorted(found)
    for name, workload in found.items():
        workload_is_whole(name, workload, 1000, 2 if name[1] == "read@2" else 1)


def updates_end_rehashes(tare):
    """A hash of ten fields has its old table until updates have moved it."""
    path = tare.path("updates.csv")
    run = tare.run("run", "-n", "20000", "-e", "redis:hash", "--steps",
                   "load,update:operations=80k,workload=a:operations=10k", "--export-csv", path)
    assert run.code == 0, run
    cells = ledgers(path)
    old = {state: accounts.get("field table, old", {"bytes": 0})["bytes"]
           for (_, state), accounts in cells.items()}
    # The seed decides whether there is one at all (practically always), and how many it takes.
    if old["loaded"]:
        assert old["loaded"] == 64 * 20000 and old["workload-a"] < old["loaded"], old
    for name, accounts in cells.items():
        of_allocated, of_resident = shares(accounts)
        assert of_allocated <= 0.1 and of_resident <= 2, (name, of_allocated, of_resident)
    given = []
    last = cells["redis:hash", "workload-a"]
    for word in last["total.allocated"]["settings"].split():
        if word.startswith("hash_"):
            given += ["--given", word]
    plan = tare.path("given.csv")
    run = tare.run("plan", "-n", "20000", "-e", "redis:hash", "--server", "redis=redis-server",
                   *given, "--export-csv", plan)
    assert run.code == 0, run
    (planned,) = ledgers(plan).values()
    for account, row in last.items():
        if row["stage"] in ("structure", "rounding"):
            assert planned[account]["bytes"] == row["bytes"], account


def an_update_writes_what_it_says(tare):
    """The values of a server that tare did not start, before and after."""
    with RedisServer(tare) as server:
        url = "redis=redis://127.0.0.1:%d/4" % server.port
        commands = {}
        for steps in ("load", "load,update:operations=300", "load,miss:operations=200:pipeline=50",
                      "load,read:operations=100:threads=4,workload=d:operations=400"):
            server.client("config", "resetstat")
            run = tare.run("run", "-n", "500", "-e", "redis:hash", "--server", url, "--steps",
                           steps)
            assert run.code == 0, run
            calls = server.client("info", "commandstats")
            commands[steps] = {name: int(count) for name, count in re.findall(
                r"cmdstat_([a-z]+):calls=(\d+)", calls)}
            assert server.client("info", "keyspace").count("db") == 0, "keys left behind"
        plain, update, miss, more = commands.values()
        assert update["hmset"] - plain["hmset"] == 300, commands
        assert miss["hgetall"] - plain["hgetall"] == 200, commands
        reads, inserts = more["hgetall"] - plain["hgetall"], more["hmset"] - plain["hmset"]
        assert reads + inserts == 500 and 5 <= inserts <= 40, commands


def a_workload_ends_with_its_server(tare):
    for encoding, name in (("redis:hash", "redis"), ("mongodb:document", "mongod")):
        json_path = tare.path("workload.json")
        process = tare.start("run", "-n", "1000", "-e", encoding, "--steps",
                             "load,workload=a:seconds=60:threads=4", "--export-json", json_path)
        pid = wait_for_server(tare, name)
        time.sleep(7)
        os.kill(pid, signal.SIGKILL)
        begin = time.monotonic()
        run = tare.finish(process)
        one_line(run, 2)
        assert time.monotonic() - begin < 15
        (cell,) = load_json(json_path)["cells"]
        assert cell["complete"] is False and [s["state"] for s in cell["states"]] == ["loaded"]
    process = tare.start("run", "-n", "1000", "-e", "redis:hash", "--steps",
                         "load,workload=a:seconds=60:threads=4")
    time.sleep(6)
    os.kill(process.pid, signal.SIGINT)
    begin = time.monotonic()
    run = tare.finish(process)
    assert run.code == 130, run
    assert time.monotonic() - begin < 15


def steps_that_a_server_does_not_have(tare):
    with RedisServer(tare) as server:
        url = "redis=redis://127.0.0.1:%d/3" % server.port
        for step in ("reload", "restart"):
            run = tare.run("run", "-n", "10", "-e", "redis:hash", "--server", url, "--steps",
                           "load," + step)
            one_line(run, 1, step, "servers that tare starts")
    run = tare.run("run", "-n", "10", "-e", "redis:hash", "--set", "aof=everysec", "--steps",
                   "load,restart")
    one_line(run, 1, "aof")
    run = tare.run("run", "-n", "10", "-e", "mongodb:document", "--steps", "load,read:pipeline=8")
    one_line(run, 1, "waits for each answer")
    tare.expect_clean()


def a_foreign_server_is_left_as_it_was(tare):
    with RedisServer(tare) as server:
        url = "redis=redis://127.0.0.1:%d" % server.port
        server.client("-n", "3", "set", "mine", "1")
        before = server.client("config", "get", "hash-max-listpack-value")
        run = tare.run("run", "-n", "1000", "-e", "redis:hash", "--server", url + "/3")
        one_line(run, 2, "not empty", "127.0.0.1:%d" % server.port)
        assert server.client("-n", "3", "get", "mine").strip() == "1"
        path = tare.path("foreign.csv")
        run = tare.run("run", "-n", "1000", "-e", "redis:hash@index", "--server", url + "/4",
                       "--export-csv", path)
        assert run.code == 0, run
        ledgers(path)
        assert server.client("info", "keyspace").count("db") == 1, "keys left behind"
        run = tare.run("run", "-n", "1000", "-e", "redis:hash@listpack", "--server", url + "/4")
        assert run.code in (1, 2) and "--allow-config" in run.err, run
        run = tare.run("run", "-n", "1000", "-e", "redis:hash@listpack", "--server", url + "/4",
                       "--allow-config")
        assert run.code == 0, run
        assert server.client("config", "get", "hash-max-listpack-value") == before
        run = tare.run("run", "-n", "1000", "-e", "redis:string+json", "--server", url + "/5",
                       "--keep")
        assert run.code == 0, run
        assert server.client("-n", "5", "dbsize").strip() == "1000"


def passwords_reach_no_output(tare):
    with RedisServer(tare, "--requirepass", "sesame-17") as server:
        address = "127.0.0.1:%d" % server.port
        json_path = tare.path("secret.json")
        run = tare.run("run", "-n", "1000", "-e", "redis:hash", "--server",
                       "redis=redis://:sesame-17@%s/2" % address, "-v", "--export-json", json_path)
        assert run.code == 0, run
        with open(json_path) as file:
            text = file.read()
        assert "sesame" not in text + run.out + run.err
        run = tare.run("run", "-n", "1000", "-e", "redis:hash", "--server",
                       "redis=redis://:wrong-18@%s/2" % address)
        one_line(run, 2, address)
        assert "wrong-18" not in run.err
        run = tare.run("run", "-n", "1000", "-e", "redis:hash", "--server",
                       "redis=redis://%s/2" % address)
        one_line(run, 2, address)


def unreachable_and_wrong_servers_fail_quickly(tare):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(1)
        port = silent.getsockname()[1]
        for kind, url in (("redis", "redis://127.0.0.1:%d" % port), ("redis", "redis://127.0.0.1:1"),
                          ("mongodb", "mongodb://127.0.0.1:%d" % port),
                          ("mongodb", "mongodb://127.0.0.1:1")):
            encoding = "redis:hash" if kind == "redis" else "mongodb:document"
            run = tare.run("run", "-n", "10", "-e", encoding, "--server", kind + "=" + url)
            one_line(run, 2, url.split("//")[1])
            assert run.seconds < 5.5, run.seconds
    with RedisServer(tare) as server:
        run = tare.run("run", "-n", "10", "-e", "mongodb:document", "--server",
                       "mongodb=mongodb://127.0.0.1:%d" % server.port)
        one_line(run, 2, "127.0.0.1:%d" % server.port)
        run = tare.run("run", "-n", "10", "-e", "redis:hash", "--server",
                       "valkey=redis://127.0.0.1:%d" % server.port)
        one_line(run, 2, "redis")
    run = tare.run("run", "-n", "10", "-e", "redis:hash", "--server",
                   "redis=rediss://127.0.0.1:1")
    assert run.code in (1, 2) and "TLS" in run.err, run
    run = tare.run("run", "-n", "10", "-e", "redis:hash", "--server", "redis=no-such-server")
    assert run.code in (1, 2) and "no-such-server" in run.err, run


def a_full_server_costs_its_own_cell_only(tare):
    csv_path, json_path = tare.path("full.csv"), tare.path("full.json")
    run = tare.run("run", "-n", "20000", "-e", "redis:string+json,redis:hash", "--set",
                   "maxmemory=33000000", "--export-csv", csv_path, "--export-json", json_path)
    assert run.code == 2, run
    assert "maxmemory" in run.err, run
    cells = {c["name"]: c for c in load_json(json_path)["cells"]}
    assert cells["redis:string+json"]["complete"] is True
    assert cells["redis:hash"]["complete"] is False and "maxmemory" in cells["redis:hash"]["error"]
    assert [cell for cell, _ in ledgers(csv_path)] == ["redis:string+json"]


def find_server(tare, name):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if not os.readlink("/proc/%s/cwd" % pid).startswith(tare.scratch):
                continue
            if name in os.readlink("/proc/%s/exe" % pid):
                return int(pid)
        except OSError:
            continue
    return None


def wait_for_server(tare, name):
    end = time.monotonic() + 15
    while time.monotonic() < end:
        pid = find_server(tare, name)
        if pid:
            return pid
        time.sleep(0.02)
    raise AssertionError("no %s appeared" % name)


def a_dying_server_costs_its_own_cell_only(tare):
    for encoding, name in (("redis:hash", "redis"), ("mongodb:document", "mongod")):
        json_path = tare.path("dying.json")
        process = tare.start("run", "-n", "2000000", "-e", encoding, "--export-json", json_path)
        pid = wait_for_server(tare, name)
        time.sleep(4)
        os.kill(pid, signal.SIGKILL)
        run = tare.finish(process)
        one_line(run, 2)
        cell = load_json(json_path)["cells"][0]
        assert cell["complete"] is False and cell["error"], cell
        tare.expect_clean()


def signals_leave_nothing_behind(tare):
    for number, name, code, delay in ((signal.SIGINT, "redis:hash", 130, 0.1),
                                      (signal.SIGTERM, "redis:hash", 143, 1.0),
                                      (signal.SIGINT, "redis:hash", 130, 3.5),
                                      (signal.SIGTERM, "mongodb:document", 143, 0.3),
                                      (signal.SIGINT, "mongodb:document", 130, 4.0)):
        json_path = tare.path("interrupted.json")
        csv_path = tare.path("interrupted.csv")
        process = tare.start("run", "-n", "3000000", "-e", name, "--export-json", json_path,
                             "--export-csv", csv_path)
        time.sleep(delay)
        os.kill(process.pid, number)
        begin = time.monotonic()
        run = tare.finish(process)
        assert run.code == code, run
        assert time.monotonic() - begin < 15
        tare.expect_clean()
        if os.path.exists(json_path):
            load_json(json_path)
        assert not [n for n in os.listdir(tare.scratch) if n.endswith(".tmp")]


def finished_cells_survive_an_interrupt(tare):
    json_path = tare.path("survive.json")
    process = tare.start("run", "-n", "1000", "-e", "redis:string+json", "--repeat", "1", "-e",
                         "redis:hash", "--export-json", json_path, "-q")
    first = wait_for_server(tare, "redis")
    while os.path.exists("/proc/%d" % first):
        time.sleep(0.02)
    wait_for_server(tare, "redis")
    os.kill(process.pid, signal.SIGINT)
    run = tare.finish(process)
    assert run.code == 130, run
    cells = load_json(json_path)["cells"]
    assert cells[0]["name"] == "redis:string+json" and cells[0]["complete"] is True, cells


def a_crash_of_tare_leaves_no_server(tare):
    process = tare.start("run", "-n", "3000000", "-e", "redis:hash")
    pid = wait_for_server(tare, "redis")
    time.sleep(0.5)
    process.kill()
    tare.finish(process)
    end = time.monotonic() + 3
    while os.path.exists("/proc/%d/exe" % pid) and time.monotonic() < end:
        try:
            os.readlink("/proc/%d/exe" % pid)
        except OSError:
            break
        time.sleep(0.05)
    assert find_server(tare, "redis") is None
    run = tare.run("run", "-n", "100", "-e", "redis:hash", "-q")
    assert run.code == 0, run
    tare.expect_clean()


def memory_does_not_grow_with_the_records(tare):
    run = tare.run("run", "-n", "100000", "-e", "redis:hash", "-q")
    assert run.code == 0 and run.peak < 48 << 20, (run, run.peak)
    few = tare.run("plan", "-n", "100000", "-e", "redis:hash", "-q")
    many = tare.run("plan", "-n", "1000000000", "-e", "redis:hash", "-q")
    assert few.code == 0 and many.code == 0, (few, many)
    assert many.peak < 20 << 20, many.peak


def probe_reads_only(tare):
    with RedisServer(tare) as server:
        server.client("mset", "a", "1", "b", "2")
        server.client("config", "resetstat")
        run = tare.run("probe", "redis://127.0.0.1:%d" % server.port)
        assert run.code == 0, run
        assert server.client("dbsize").strip() == "2"
        calls = server.client("info", "commandstats")
        for command in ("set", "hmset", "del", "unlink", "flushdb", "zadd"):
            assert "cmdstat_%s:" % command not in calls, calls


def settings_reach_the_server(tare):
    path = tare.path("settings.csv")
    run = tare.run("run", "-n", "2000", "-e", "redis:hash", "--set", "aof=always", "--set",
                   "rdb=off", "--set", "batch=100", "--set", "mongodb.x=1", "--export-csv", path)
    assert run.code == 0, run
    (accounts,) = ledgers(path).values()
    settings = accounts["total.allocated"]["settings"]
    for word in ("appendonly=yes", "appendfsync=always", "batch=100"):
        assert word in settings.split(), settings
    assert "mongodb" not in settings, settings


def a_server_without_the_module_is_told(tare):
    """redis:json needs RedisJSON; a server of someone else's is asked for it, and left alone."""
    one_line(tare.run("run", "-n", "10", "-q", "-e", "redis:json", "--server",
                      "redis=redis-server"), 2, "no module 'rejson.so' is beside the server",
             "--set loadmodule=PATH")
    one_line(tare.run("run", "-n", "10", "-q", "-e", "redis:json", "--server",
                      "redis=redis-server", "--set", "loadmodule=/no/such.so"), 2,
             "no module '/no/such.so' is there")
    with RedisServer(tare) as server:
        one_line(tare.run("run", "-n", "10", "-q", "-e", "redis:json", "--server",
                          "redis=redis://127.0.0.1:%d" % server.port), 2,
                 "needs the module rejson.so, which the server has not loaded")
        assert server.client("dbsize").strip() == "0"


def files_are_held_as_they_are(tare):
    """The sample files, in a Redis that is asked for each record again."""
    with open(os.path.join(ROOT, "samples/data/people.ndjson"), encoding="utf-8") as file:
        people = {record["id"]: record for record in map(json.loads, file)}
    with RedisServer(tare) as server:
        url = "redis=redis://127.0.0.1:%d/" % server.port
        for number, encoding in enumerate(("redis:string+json", "redis:hash", "redis:bucket=7")):
            run = tare.run("run", "-d", "file:samples/data/people.ndjson,key=id", "-e", encoding,
                           "--server", url + str(number), "--keep", "-q")
            assert run.code == 0, run

        def ask(number, *words):
            return server.client("-n", str(number), "--json" if words[0] == "hgetall" else "--raw",
                                 *words)
        assert ask(0, "dbsize").strip() == ask(1, "dbsize").strip() == str(len(people))
        assert int(ask(2, "dbsize")) == -(-len(people) // 7)
        for place, (key, record) in enumerate(people.items()):
            assert json.loads(ask(0, "get", key)) == record, key
            fields = {name: value if isinstance(value, str) else json.loads(value)
                      for name, value in json.loads(ask(1, "hgetall", key)).items()
                      if name in record}
            texts = {name: value if isinstance(value, (dict, list, str)) else
                     json.loads(json.dumps(value)) for name, value in record.items()}
            for name, value in texts.items():
                held = fields[name]
                if not isinstance(value, str) and isinstance(held, str):
                    held = json.loads(held)
                assert held == value, (key, name, held, value)
            assert json.loads(ask(2, "hget", "bucket:%d" % (place // 7), key)) == record, key
        # Values that go round have keys of their own; standard input is loaded as a file is.
        with open(os.path.join(ROOT, "samples/data/people.ndjson"), "rb") as file:
            run = tare.finish(tare.start("run", "-d", "-:key=id", "-n", "100", "-e", "redis:hash",
                                         "--server", url + "3", "--keep", "-q", stdin=file))
        assert run.code == 0, run
        assert ask(3, "dbsize").strip() == "100"


def files_close_their_ledgers(tare):
    path, json_path = tare.path("files.csv"), tare.path("files.json")
    for name, key, encodings in (
            ("people.ndjson", "key=id", "redis:hash"),
            ("stations.json", "key=number", "mongodb:blob+cbor"),
            ("cities.csv", "numbers", "redis:list"),
            ("orders.bson", "format=bson", "redis:string+bson,mongodb:document")):
        servers = []
        for store, server in (("redis", "redis-server"), ("mongodb", "mongod,engine=memory")):
            if store in encodings:
                servers += ["--server", "%s=%s" % (store, server)]
        run = tare.run("run", "-n", "20000", "-d", "file:samples/data/%s,%s" % (name, key), "-e",
                       encodings, *servers, "--export-csv", path, "--export-json", json_path)
        assert run.code == 0 and "go round under fresh keys" in run.err, run
        cells = ledgers(path)
        assert len(cells) == encodings.count(",") + 1
        for (cell, _), accounts in cells.items():
            of_allocated, _ = shares(accounts)
            assert of_allocated <= (0.1 if cell.startswith("redis") else 2), (cell, of_allocated)
        for cell in load_json(json_path)["cells"]:
            if cell["name"].startswith("mongodb"):
                samples = cell["states"][0]["samples"]
                assert samples["collStats.count"] == 20000, cell["name"]
                assert samples["collStats.size"] == sum(
                    counted(cells[(cell["name"], "settled")]).values()), cell["name"]


def a_signal_ends_the_wait_for_a_pipe(tare):
    """tare waits for more of its standard input, which stays open and silent."""
    out = tare.path("piped.msgpack")
    for number, code, words in (
            (signal.SIGINT, 130, ("encode", "-d", "-", "-e", "msgpack", "-o", out)),
            (signal.SIGTERM, 143, ("plan", "-d", "-:key=a", "-e", "redis:hash")),
            (signal.SIGINT, 130, ("run", "-d", "-:key=a", "-e", "redis:hash", "--server",
                                  "redis=redis-server")),
            (signal.SIGTERM, 143, ("decode", "-e", "json", "-o", out))):
        process = tare.start(*words, stdin=subprocess.PIPE)
        process.stdin.write(b"".join(b'{"a":%d}\n' % i for i in range(50000)))
        process.stdin.flush()
        asleep = 0
        end = time.monotonic() + 10
        while asleep < 10 and time.monotonic() < end:  # it has taken all
            with open("/proc/%d/stat" % process.pid) as file:
                asleep = asleep + 1 if file.read().rpartition(")")[2].split()[0] == "S" else 0
            time.sleep(0.02)
        assert asleep == 10, "%s does not wait for its input" % words[0]
        begin = time.monotonic()
        os.kill(process.pid, number)
        run = tare.finish(process)
        process.stdin.close()
        assert run.code == code, (words[0], run)
        assert time.monotonic() - begin < 5, words[0]
        tare.expect_clean()
        assert not [n for n in os.listdir(tare.scratch) if "piped" in n], os.listdir(tare.scratch)


TESTS = [files_are_held_as_they_are, files_close_their_ledgers, a_signal_ends_the_wait_for_a_pipe,
         a_server_without_the_module_is_told, settings_reach_the_server, redis_reloads_and_restarts,
         steps_that_a_server_does_not_have, redis_ledgers_close, mongodb_ledgers_close,
         documents_that_left_the_cache_are_told,
         every_encoding_closes, a_process_of_its_own_holds_records, mongodb_ids_and_indexes_are_modelled,
         a_block_compressor_changes_the_disk_alone,
         one_seed_one_result, small_counts_and_empty_fields,
         a_rehash_is_over_where_it_is_settled, hashes_of_each_kind_tell_their_branch,
         steps_close_a_ledger_each,
         workloads_read_update_and_miss, workloads_know_every_keyed_encoding,
         updates_end_rehashes, an_update_writes_what_it_says,
         a_workload_ends_with_its_server,
         a_foreign_server_is_left_as_it_was, passwords_reach_no_output,
         unreachable_and_wrong_servers_fail_quickly, a_full_server_costs_its_own_cell_only,
         a_dying_server_costs_its_own_cell_only, signals_leave_nothing_behind,
         finished_cells_survive_an_interrupt, a_crash_of_tare_leaves_no_server,
         memory_does_not_grow_with_the_records, probe_reads_only]

if __name__ == "__main__":
    sys.exit(main(TESTS, sys.argv[1]))
