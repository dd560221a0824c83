#!/usr/bin/env python3
"""The model's blocks beside those that a witness in the server counts, by requested size.

usage: compare.py PROGRAM [--records N] [--parallel N] [--server NAME...] [--shape NAME...] [-v]

Every server of `setup.sh list` that is built on the C library's malloc is started with witness.so
in it; tare loads it by URL, and what the load added to the histogram is held against the blocks in
tare's JSON. Prints TAP."""
import argparse
import array
import collections
import math
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "servers"))
import servers as s  # noqa: E402
from tap import ROOT, Skip, Tare, load_json, run_jobs  # noqa: E402

SHAPES = {
    "hash table": ("ycsb", "redis:hash"),
    "listpack": ("ycsb", "redis:hash@listpack"),
    "raw string": ("ycsb", "redis:string+json"),
    "embedded string": ("kv:minlength=20,maxlength=20,keyprefix=session:", "redis:string"),
    "expiry": ("kv:minlength=20,maxlength=20,keyprefix=session:", "redis:string@ttl=864000"),
    "sorted set": ("ycsb", "redis:hash@index"),
}
LIMIT = 0.001  # of the blocks
# A count that the model can only expect (levels of a skip list, child buckets) is drawn by the
# server: it may be off by so many of its standard deviations.
DEVIATIONS = 4
# witness.h
MAGIC = 0x3173736e74697754
SMALL, LARGE = 65536, 8192


def build_witness():
    """Compiles the library where its source is newer; its path."""
    folder = os.path.join(ROOT, "build", "objects", "tests", "witness")
    library = os.path.join(folder, "witness.so")
    sources = [os.path.join(HERE, name) for name in ("witness.c", "witness.h")]
    if os.path.exists(library) and all(os.path.getmtime(f) <= os.path.getmtime(library)
                                       for f in sources):
        return library
    os.makedirs(folder, exist_ok=True)
    subprocess.run([os.environ.get("CC", "gcc"), "-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall",
                    "-Wextra", "-Wshadow", "-Wconversion", "-Wstrict-prototypes",
                    "-Wmissing-prototypes", "-Werror", "-fno-builtin-malloc",
                    "-fno-builtin-calloc", "-fPIC", "-shared", "-o", library, sources[0],
                    "-lpthread"], check=True)
    return library


class Histogram:
    """One look at the counters: live blocks by requested size."""

    def __init__(self, path):
        numbers = array.array("q")
        with open(path, "rb") as file:
            numbers.frombytes(file.read())
        magic, self.blocks, self.bytes, lost = numbers[:4]
        assert magic == MAGIC and lost == 0, "the witness lost %d blocks" % lost
        assert len(numbers) == 4 + SMALL + 2 * LARGE, "the witness has another layout"
        self.counts = collections.Counter({size: n for size, n in enumerate(numbers[4:4 + SMALL])
                                           if n})
        rows = numbers[4 + SMALL:]
        self.counts.update({size: n for size, n in zip(rows[::2], rows[1::2]) if n})

    def is_whole(self):
        """Not in the middle of a call."""
        return (self.blocks == sum(self.counts.values()) and
                self.bytes == sum(size * n for size, n in self.counts.items()))


def look(path, patience=10.0):
    """The histogram once the server is quiet: connections are freed after they were closed."""
    end = time.monotonic() + patience
    before = None
    while True:
        now = Histogram(path)
        if now.is_whole() and before and abs(now.blocks - before.blocks) <= 2:
            return now
        assert time.monotonic() < end, "the server's blocks don't stand still"
        before = now
        time.sleep(0.7)


class WitnessedServer:
    def __init__(self, tare, server, library):
        self.folder = s.scratch_name(tare, "witness")
        os.makedirs(self.folder)
        self.socket = os.path.join(self.folder, "s")
        self.counters = os.path.join(self.folder, "counters")
        self.url = "%s=unix://%s" % (server.kind, self.socket)
        environment = dict(os.environ, LD_PRELOAD=library, WITNESS_FILE=self.counters,
                           WITNESS_PROGRAM=os.path.basename(server.program))
        self.process = subprocess.Popen(
            [server.program, "--port", "0", "--unixsocket", self.socket, "--save", "",
             "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning",
             # A busy machine makes commands slow, and their entries stay in the log.
             "--slowlog-log-slower-than", "-1", "--dir",
             self.folder], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def __enter__(self):
        for _ in range(200):
            assert self.process.poll() is None, "the server ended at once"
            with socket.socket(socket.AF_UNIX) as one:
                if one.connect_ex(self.socket) == 0:
                    return self
            time.sleep(0.05)
        self.__exit__()
        raise AssertionError("the server did not start")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def used_memory(self):
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(self.socket)
            one.sendall(b"INFO memory\r\n")
            text = b""
            while b"used_memory_human" not in text:
                text += one.recv(65536)
        return int(re.search(rb"used_memory:(\d+)", text).group(1))


def counted_by_server(size, prefix):
    """What used_memory counts for a request (zmalloc.c)."""
    return (size + 7) // 8 * 8 if prefix else usable(size)


def usable(size):
    """What glibc hands out (malloc.c): chunks of 16, 32 at least, less a header."""
    if size + 8 >= 128 * 1024:
        return (size + 16 + 4095) // 4096 * 4096 - 16
    return max(32, (size + 8 + 15) // 16 * 16) - 8


def differences(model, seen, chance):
    """[(requested, predicted, counted)] where they differ by more than chance; and the sum of how
    many blocks differ."""
    rows, wrong = [], 0.0
    for size in sorted(set(model) | set(seen)):
        off = abs(model[size] - seen[size])
        excess = max(0.0, off - chance[size])
        if off >= 0.5:
            rows.append((size, model[size], seen[size]))
        wrong += excess
    return rows, wrong


def match_packed(packed, model, seen):
    """A listpack grows by realloc only where malloc_usable_size says that it must (listpack.c,
    lpInsert): what was asked for last is less than its size, in the same chunk. Such blocks are
    moved to the size that the model has, as many as it has."""
    for size in sorted(packed):
        short = model[size] - seen[size]
        for other in range(size - 1, max(0, size - 32), -1):
            spare = seen[other] - model[other]
            if short <= 0:
                break
            if spare > 0 and usable(other) >= size:
                take = min(short, spare)
                seen[other] -= take
                seen[size] += take
                short -= take


def compare(tare, server, library, dataset, encoding, records, verbose):
    path = s.scratch_name(tare, "json")
    what = ["run", "-d", dataset, "-e", encoding, "--allow-config", "-q", "--export-json", path]
    with WitnessedServer(tare, server, library) as started:
        what += ["--server", started.url]
        s.must(tare, *what, "-n", "1")  # every command was called once, all is removed again
        before = look(started.counters)
        used_before = started.used_memory()
        s.must(tare, *what, "-n", str(records), "--keep")
        after = look(started.counters)
        used = started.used_memory() - used_before
    cell, = load_json(path)["cells"]
    os.unlink(path)
    blocks = cell["states"][0]["blocks"]
    model, chance, packed = collections.Counter(), collections.Counter(), set()
    prefix = 8 if cell["version"].startswith("3.") else 0  # zmalloc.c: the size in front
    for block in blocks:
        size = block["requested"] + prefix
        model[size] += block["count"]
        if block["count"] != int(block["count"]):
            chance[size] += DEVIATIONS * math.sqrt(abs(block["count"]))
        if block["kind"] == "packed" and int(cell["version"].split(".")[0]) >= 7:
            packed.add(size)
    seen = collections.Counter(after.counts)
    seen.subtract(before.counts)
    problems = []
    total = sum(model.values())
    # So the witness itself is held against the server's own total.
    expected = sum(counted_by_server(size, prefix) * n for size, n in seen.items())
    whole = 16 * total if s.HANDED_OUT_WHOLE in " ".join(cell["states"][0]["notes"]) else 0
    if not -0.002 * used - s.FLOOR <= used - expected <= 0.002 * used + s.FLOOR + whole:
        problems.append("used_memory grew by %d, the witness's blocks make %d" % (used, expected))
    match_packed(packed, model, seen)
    rows, wrong = differences(model, seen, chance)
    if wrong > LIMIT * total:
        problems.append("%.0f of %.0f blocks differ:" % (wrong, total))
        problems += ["%9d bytes: %12.1f predicted, %9d counted" % row for row in
                     sorted(rows, key=lambda row: -abs(row[1] - row[2]))[:12]]
    remark = "%d blocks of %d bytes counted, %.0f predicted, %.4f %% differ beyond chance" % (
        sum(seen.values()), sum(size * n for size, n in seen.items()), total, 100 * wrong / total)
    if verbose:
        remark += "".join("\n%9d bytes: %12.1f predicted, %9d counted" % row for row in rows)
    return "\n".join(problems) or None, remark


def job_of(server, library, name, options):
    title = "%s, %s" % (server.name, name)
    dataset, encoding = SHAPES[name]

    def job(tare):
        problem, remark = compare(tare, server, library, dataset, encoding, options.records,
                                  options.verbose)
        return [(title, problem, remark)]
    return title, job


def built_on_libc(server):
    text = subprocess.run([server.program, "--version"], capture_output=True, text=True,
                          check=False).stdout
    return "malloc=libc" in text


def is_static(program):
    """Whether an ELF program of 64 bits names no dynamic linker (elf.h, PT_INTERP)."""
    with open(program, "rb") as file:
        head = file.read(64)
        if head[:5] != b"\x7fELF\x02":
            return False
        offset, = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(offset)
        table = file.read(size * count)
    return all(struct.unpack_from("<I", table, i * size)[0] != 3 for i in range(count))


def skipped(title, reason):
    def job(tare):
        raise Skip(reason)
    return title, job


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--records", type=int, default=20000)
    parser.add_argument("--parallel", type=int, default=3)
    parser.add_argument("--server", action="append")
    parser.add_argument("--shape", action="append", choices=sorted(SHAPES))
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    there, absent = s.found()
    library = build_witness()
    jobs = []
    for server in there:
        if server.kind == "mongodb" or options.server and server.name not in options.server or \
                not built_on_libc(server):
            continue
        if is_static(server.program):
            jobs.append(skipped(server.name, "it is linked statically: nothing can be preloaded"))
        else:
            jobs += [job_of(server, library, name, options) for name in options.shape or SHAPES]
    if not options.server:
        jobs += [skipped(name, "it is not there: './setup.sh servers %s' gets it" % name)
                 for name in absent if name.endswith("-libc")]
    return run_jobs(jobs, Tare(options.program), options.parallel)


if __name__ == "__main__":
    sys.exit(main())
