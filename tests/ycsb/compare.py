#!/usr/bin/env python3
"""The same load by the real YCSB (core 0.17.0) and by tare, into the same servers: the keys and scores are the same,
used_memory is within .2 %, collStats.size equal. Needs `setup.sh ycsb`. usage: compare.py PROGRAM [RECORDS]"""
import glob
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
YCSB = os.path.join(ROOT, "build", "ycsb")
MOST_APART = 0.002  # of used_memory
# As tare starts them, but at a port: jedis and the driver know no unix socket.
REDIS = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--slowlog-log-slower-than", "-1"]
# From 7.0 a command has a histogram of 24 KB once it was called: tare's probes are no part of the load.
REDIS_7 = ["--latency-tracking", "no"]
MONGOD = ["--bind_ip", "127.0.0.1", "--setParameter", "diagnosticDataCollectionEnabled=false"]


def programs():
    """{"redis-7.0.15": path} of those that are here."""
    text = subprocess.run([os.path.join(ROOT, "setup.sh"), "list"], capture_output=True, text=True,
                          check=True).stdout
    found = dict(line.split(" ", 1) for line in text.splitlines())
    path = shutil.which("redis-server")
    if path:
        version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        found.setdefault("redis-" + version.split("v=")[1].split()[0], path)
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A fresh server at a port of its own, gone at the end."""

    def __init__(self, program, options, folder_option):
        self.folder = tempfile.mkdtemp(prefix="tare-ycsb-")
        self.port = free_port()
        self.process = subprocess.Popen([program, "--port", str(self.port), folder_option, self.folder] + options,
                                        stdout=subprocess.DEVNULL)
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError(program + " did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def ask(port, *words):
    """A reply of Redis: a number, a text, or a list of texts."""
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rwb") as file:
        file.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
        file.flush()

        def reply():
            head = file.readline().rstrip(b"\r\n")
            if head[:1] == b"$":
                text = file.read(int(head[1:]) + 2)[:-2]
                return text.decode()
            if head[:1] == b"*":
                return [reply() for _ in range(int(head[1:]))]
            assert head[:1] in b":+", head
            return head[1:].decode()
        return reply()


def used_memory(port):
    """Once it stands still."""
    last = None
    for _ in range(60):
        now = int(ask(port, "INFO", "memory").split("used_memory:")[1].split()[0])
        if last is not None and abs(now - last) < 4096:
            return now
        last = now
        time.sleep(2.5)
    raise AssertionError("used_memory does not stand still")


def warm_up(port):
    """The first call of each command leaves something in a server: both loads' calls, once before."""
    ask(port, "HMSET", "warm", "field", "value")
    ask(port, "ZADD", "_indices", "1", "warm")
    ask(port, "DEL", "warm", "_indices")


def ycsb(binding, port, records):
    run = subprocess.run(["java", "-cp", os.path.join(YCSB, "*") + ":" + os.path.join(YCSB, "classes"),
                          "site.ycsb.Client", "-load", "-db", binding, "-threads", "1", "-p", "port=%d" % port,
                          "-p", "workload=site.ycsb.workloads.CoreWorkload", "-p", "recordcount=%d" % records],
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0 and "Return=OK, %d" % records in run.stdout, run.stdout + run.stderr


def tare(program, folder, *arguments):
    """A run's only cell, of its JSON."""
    path = os.path.join(folder, "run.json")
    run = subprocess.run([program, "run", "-q", "--export-json", path] + list(arguments), capture_output=True,
                         text=True, check=False)
    assert run.returncode == 0, run.stderr
    with open(path) as file:
        return json.load(file)["cells"][0]


def digest(port):
    """Of all keys and their scores in _indices."""
    return hashlib.sha256("\n".join(ask(port, "ZRANGE", "_indices", "0", "-1", "WITHSCORES")).encode()).hexdigest()


def redis_holds_the_same(program, server, records, more=()):
    grown, digests = {}, {}
    for loader in ("ycsb", "tare"):
        with Server(server, REDIS + list(more), "--dir") as redis:
            warm_up(redis.port)
            before = used_memory(redis.port)
            if loader == "ycsb":
                ycsb("RedisBinding", redis.port, records)
            else:
                tare(program, redis.folder, "-n", str(records), "-e", "redis:hash@index", "--keep", "--server",
                     "redis=redis://127.0.0.1:%d" % redis.port)
            grown[loader] = used_memory(redis.port) - before
            assert int(ask(redis.port, "DBSIZE")) == records + 1
            digests[loader] = digest(redis.port)
    assert digests["ycsb"] == digests["tare"], "keys or scores differ"
    apart = (grown["tare"] - grown["ycsb"]) / grown["ycsb"]
    with tempfile.TemporaryDirectory() as folder:
        cell = tare(program, folder, "-n", str(records), "-e", "redis:hash@index", "--server", "redis=" + server)
    headline = cell["states"][0]["headline"]
    weighed = headline["measured"]
    report = "used_memory grew by %.2f bytes a record by YCSB, %.2f by tare (%+.3f %%), %.2f in tare's ledger" % (
        grown["ycsb"] / records, grown["tare"] / records, 100 * apart, weighed / records)
    assert abs(apart) <= MOST_APART and abs(weighed - grown["ycsb"]) <= MOST_APART * grown["ycsb"], report
    return report


def mongodb_holds_the_same(program, server, records):
    with Server(server, MONGOD, "--dbpath") as mongod:
        ycsb("MongoBinding", mongod.port, records)
        text = subprocess.run(["java", "-cp", os.path.join(YCSB, "*") + ":" + os.path.join(YCSB, "classes"),
                               "MongoBinding", str(mongod.port)], capture_output=True, text=True, check=True).stdout
        count, size = (int(word) for word in text.split()[-2:])
    assert count == records
    with tempfile.TemporaryDirectory() as folder:
        cell = tare(program, folder, "-n", str(records), "-e", "mongodb:document", "--server", "mongodb=" + server)
    ours = cell["states"][0]["samples"]["collStats.size"]
    report = "collStats.size is %d by YCSB, %d by tare" % (size, ours)
    assert ours == size, report
    return report


def main():
    program = os.path.abspath(sys.argv[1])
    records = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    here = programs()
    tests = [("redis-3.2.6", redis_holds_the_same),
             ("redis-7.0.15", lambda *given: redis_holds_the_same(*given, more=REDIS_7)),
             ("mongodb-6.0.5", mongodb_holds_the_same)]
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        try:
            assert glob.glob(os.path.join(YCSB, "classes", "*.class")), "YCSB is not here: ./setup.sh ycsb"
            assert name in here, "%s is not here: ./setup.sh servers %s" % (name, name)
            print("ok %d - %s: %s" % (number, name, test(program, here[name], records)))
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print("not ok %d - %s\n# %s" % (number, name, str(error).replace("\n", "\n# ")))
        sys.stdout.flush()
    print("1..%d" % len(tests))
    sys.exit(1 if failed else 0)


main()
