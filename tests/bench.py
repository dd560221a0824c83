#!/usr/bin/env python3
"""Load rates of tare beside redis-cli --pipe and pymongo, in turns, on the same data.
usage: bench.py PROGRAM ROUNDS RECORDS"""
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

program, rounds, records = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
scratch = tempfile.mkdtemp(prefix="tare-bench-")


def tare_rate(encoding, *more):
    """Records a second of tare's own load, from its report (the server's start isn't in it)."""
    path = os.path.join(scratch, "rate.json")
    subprocess.run([program, "run", "-q", "-n", str(records), "-e", encoding, "--export-json",
                    path] + list(more), check=True)
    with open(path) as file:
        return json.load(file)["cells"][0]["load"]["records_per_second"]


def ycsb_key(number):
    """YCSB's hashed key: FNV-1a over the eight octets of the number, as a signed long's abs."""
    value = 0xCBF29CE484222325
    for _ in range(8):
        value = ((value ^ (number & 0xFF)) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
        number >>= 8
    return b"user%d" % (value if value < 1 << 63 else (1 << 64) - value)


def redis_commands(path):
    """The very commands that tare sends, as RESP, from the records that it encodes."""
    made = os.path.join(scratch, "records.ndjson")
    subprocess.run([program, "encode", "-d", "ycsb", "-n", str(records), "-e", "json", "-o", made],
                   check=True)
    with open(made) as source, open(path, "wb") as out:
        for number, line in enumerate(source):
            words = [b"HMSET", ycsb_key(number)]
            for name, value in json.loads(line).items():
                words += [name.encode(), value.encode()]
            out.write(b"*%d\r\n" % len(words))
            for word in words:
                out.write(b"$%d\r\n%s\r\n" % (len(word), word))


def pipe_rate(commands):
    """Of redis-cli --pipe into a fresh server on a unix socket."""
    socket_path = os.path.join(scratch, "pipe.sock")
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", socket_path, "--save",
                               "", "--dir", scratch], stdout=subprocess.DEVNULL)
    try:
        while subprocess.run(["redis-cli", "-s", socket_path, "ping"], capture_output=True,
                             check=False).stdout.strip() != b"PONG":
            time.sleep(0.05)
        with open(commands, "rb") as source:
            begin = time.monotonic()
            subprocess.run(["redis-cli", "-s", socket_path, "--pipe"], stdin=source, check=True,
                           stdout=subprocess.DEVNULL)
            return records / (time.monotonic() - begin)
    finally:
        server.kill()
        server.wait()


def find_mongod():
    return shutil.which("mongod") or sorted(glob.glob("build/servers/mongodb-6*/mongod"))[-1]


def write_keys(path):
    """YCSB's keys, a line each: hashed, as tare writes them. Ascending ones are less work for an
    index."""
    with open(path, "wb") as out:
        for number in range(records):
            out.write(ycsb_key(number) + b"\n")


def pymongo_rate(python, keys):
    """Of insert_many in batches of 2,000 into a fresh mongod on disk, of documents of the very shape
    and with the very _ids that tare's have; the keys are made before the clock starts."""
    folder = os.path.join(scratch, "mongod")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    socket_path = os.path.join(folder, "mongodb-27817.sock")
    server = subprocess.Popen([find_mongod(), "--dbpath", folder, "--bind_ip", "127.0.0.1", "--port",
                               "27817", "--unixSocketPrefix", folder], stdout=subprocess.DEVNULL)
    script = """
import sys, time, os, random, urllib.parse, pymongo
client = pymongo.MongoClient("mongodb://" + urllib.parse.quote_plus(sys.argv[1]))
client.admin.command("ping")
count = int(sys.argv[2])
values = [os.urandom(100) for _ in range(1000)]
with open(sys.argv[3]) as file:
    keys = file.read().split()
collection = client.tare_bench.get_collection(
    "usertable", write_concern=pymongo.WriteConcern(w=1))
begin = time.monotonic()
for first in range(0, count, 2000):
    collection.insert_many(
        [dict([("_id", keys[i])] + [("field%d" % f, values[(i + f) % 1000])
         for f in range(10)]) for i in range(first, min(first + 2000, count))], ordered=False)
print(count / (time.monotonic() - begin))
"""
    try:
        return float(subprocess.run([python, "-c", script, socket_path, str(records), keys],
                                    check=True, capture_output=True, text=True).stdout)
    finally:
        server.kill()
        server.wait()


def pymongo_python():
    """A Python with pymongo, pinned, in the build folder."""
    python = "build/bench/bin/python"
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", "build/bench"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "pymongo==4.10.1"], check=True)
    return python


def compare(title, ours, theirs, their_name):
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    ratios = [a / b for a, b in pairs]
    print("%s, %d records, %d rounds in turn: tare %s/s, %s %s/s, ratio median %.2f (%.2f to %.2f)"
          % (title, records, rounds, format(int(statistics.median(p[0] for p in pairs)), ","),
             their_name, format(int(statistics.median(p[1] for p in pairs)), ","),
             statistics.median(ratios), min(ratios), max(ratios)), flush=True)


try:
    commands = os.path.join(scratch, "commands.resp")
    redis_commands(commands)
    compare("redis:hash", lambda: tare_rate("redis:hash"), lambda: pipe_rate(commands),
            "redis-cli --pipe")
    python = pymongo_python()
    keys = os.path.join(scratch, "keys")
    write_keys(keys)
    compare("mongodb:document", lambda: tare_rate("mongodb:document", "--server",
                                                  "mongodb=mongod,engine=disk"),
            lambda: pymongo_rate(python, keys), "pymongo insert_many")
finally:
    shutil.rmtree(scratch, ignore_errors=True)
