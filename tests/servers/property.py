#!/usr/bin/env python3
"""Draws shapes of records around every limit, and holds plan against used_memory.

usage: property.py PROGRAM [--shapes N] [--seed S] [--parallel N] [--server NAME...] [--only I]

Each shape is weighed on one server drawn from the seed; where its cell has state inputs (the branch
that the server's hash seed chose), by plan --given. Prints TAP, the seed, the median and the
largest error; a failing shape is made smaller as long as it fails, and the smallest is printed."""
import argparse
import math
import os
import random
import statistics
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers as s  # noqa: E402
from tap import Tare, run_jobs  # noqa: E402

MEDIAN_LIMIT = 0.05  # percent
LIMIT = 0.5          # percent, or s.FLOOR bytes
PAYLOAD_MOST = 64 << 20
SHRINK_MOST = 16     # attempts to make a failing shape smaller

# Where something changes: sds headers and packed limits at 31/32, 63/64, 127/128, 255/256; embstr
# at 44; listpack entries at 127; blocks of 128 in Valkey.
EDGES = (0, 1, 2, 11, 12, 13, 31, 32, 33, 43, 44, 45, 62, 63, 64, 65, 66, 126, 127, 128, 129, 254,
         255, 256, 257)
# Size classes of jemalloc, four a doubling (the small ones of a quantum of 8).
CLASSES = [8 * i for i in range(1, 17)] + [(4 + i) << shift for shift in range(5, 13)
                                          for i in range(4)]
FIELD_EDGES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 28, 29, 31, 32, 33, 63, 64, 65,
               127, 128, 129, 255, 256, 257, 511, 512, 513, 600)


class Shape:
    """What a data set and an encoding are made of; `parts` are the numbers that may shrink."""

    def __init__(self, kind, records, seed, **parts):
        self.kind, self.records, self.seed, self.parts = kind, records, seed, parts

    def with_parts(self, records=None, **changed):
        return Shape(self.kind, self.records if records is None else records, self.seed,
                     **dict(self.parts, **changed))

    def payload(self):
        p = self.parts
        if self.kind == "player":
            return self.records * 60
        if self.kind == "kv":
            return self.records * (p["key"] + 6 + p["most"])
        return self.records * (p["key"] + p["fields"] * (p["name"] + 2 + p["most"]))

    def dataset(self):
        p = self.parts
        if self.kind == "player":
            return "player:varied" if p["varied"] else "player"
        if self.kind == "kv":
            return "kv:keyprefix=%s,minlength=%d,maxlength=%d" % ("k" * p["key"], p["least"],
                                                                 p["most"])
        words = ["fieldcount=%d" % p["fields"], "fieldlength=%d" % p["most"],
                 "fieldnameprefix=" + "f" * p["name"], "zeropadding=%d" % p["key"]]
        if p["least"] != p["most"]:
            words += ["fieldlengthdistribution=uniform", "minfieldlength=%d" % p["least"]]
        if p["ordered"]:
            words.append("insertorder=ordered")
        return "ycsb:" + ",".join(words)

    def encoding(self):
        text = self.parts["encoding"]
        if self.parts["ttl"]:
            text += "@ttl=864000"
        return text

    def text(self):
        return "-n %d -d %s -e %s --seed %d" % (self.records, self.dataset(), self.encoding(),
                                                self.seed)

    def smaller(self):
        """Shapes that are simpler by one part each, the largest steps first."""
        p = self.parts
        if p["ttl"]:
            yield self.with_parts(ttl=False)
        if self.records > 1000:
            yield self.with_parts(records=1000)
            yield self.with_parts(records=max(1000, self.records // 2))
        if p.get("ordered"):
            yield self.with_parts(ordered=False)
        if "least" in p and p["least"] != p["most"]:
            yield self.with_parts(least=p["most"])
            if p["least"] < p["most"] // 2:
                yield self.with_parts(most=p["most"] // 2)
        for name, least in (("fields", 1), ("most", 1), ("key", 1), ("name", 1)):
            if p.get(name, 0) > least:
                for value in sorted({least, p[name] // 2, p[name] - 1}):
                    if value >= least:
                        changed = {name: value}
                        if name == "most" and p["least"] == p["most"]:
                            changed["least"] = value
                        elif name == "most":
                            changed["least"] = min(p["least"], value)
                        yield self.with_parts(**changed)


def near(draw, values, most, least=0):
    """Mostly an edge or one beside it, else any size by its logarithm."""
    if draw.random() < 0.6:
        value = draw.choice(values) + draw.choice((-1, 0, 0, 1))
    else:
        value = int(math.exp(draw.uniform(0, math.log(most + 1)))) - 1
    return min(max(value, least), most)


def draw_records(draw):
    if draw.random() < 0.3:
        return min(max((1 << draw.randint(10, 16)) + draw.choice((-1, 0, 1)), 1000), 70000)
    return int(math.exp(draw.uniform(math.log(1000), math.log(70000))))


def draw_lengths(draw, most):
    longest = near(draw, EDGES if draw.random() < 0.5 else CLASSES, most)
    if draw.random() < 0.3:
        return near(draw, EDGES, longest), longest
    return longest, longest


def draw_shape(number, seed):
    draw = random.Random(seed * 1000003 + number)
    records, ttl = draw_records(draw), draw.random() < 0.25
    kind = draw.choices(("ycsb", "kv", "player"), (6, 3, 1))[0]
    if kind == "player":
        return Shape(kind, records, number + 1, varied=draw.random() < 0.7, ttl=ttl,
                     encoding=draw.choice(("redis:hash", "redis:hash+short", "redis:string+json",
                                           "redis:string+msgpack", "redis:string+msgpack-array",
                                           "redis:string+cbor+zstd"))), draw
    key = near(draw, EDGES, 1000, 1) if draw.random() < 0.5 else draw.randint(1, 40)
    if kind == "kv":
        least, most = draw_lengths(draw, 20000)
        least = min(least, most)
        shape = Shape(kind, records, number + 1, key=key, least=least, most=most, ttl=ttl,
                      encoding="redis:string")
    else:
        fields = near(draw, FIELD_EDGES, 600, 1)
        # Long values in few fields, since the payload is bounded.
        least, most = draw_lengths(draw, 20000 if fields <= 8 else 2000 if fields <= 64 else 200)
        least = min(least, most)
        encoding = draw.choices(("redis:hash", "redis:hash@listpack", "redis:hash@index",
                                 "redis:string+json", "redis:string+msgpack", "redis:hash+short",
                                 "redis:string+short+cbor+lz4"), (6, 2, 1, 1, 1, 1, 1))[0]
        shape = Shape(kind, records, number + 1, key=key, fields=fields,
                      name=draw.randint(1, 37) if draw.random() < 0.5 else 5, least=least,
                      most=most, ordered=draw.random() < 0.2, ttl=ttl, encoding=encoding)
    while shape.payload() > PAYLOAD_MOST and shape.records > 1000:
        shape = shape.with_parts(records=max(1000, shape.records // 2))
    while shape.payload() > PAYLOAD_MOST:
        shape = shape.with_parts(most=shape.parts["most"] // 2,
                                 least=min(shape.parts["least"], shape.parts["most"] // 2))
    return shape, draw


class Outcome:
    """One shape weighed: the error in bytes, and what of it is beyond the limits."""

    def __init__(self, cell):
        self.measured = cell.bytes("total.allocated")
        row = cell.given["total.allocated"]
        self.error = self.measured - row["bytes"]
        self.percent = 100.0 * abs(self.error) / max(self.measured, 1)
        self.band = cell.band()
        self.inputs = cell.inputs()
        allowed = max(LIMIT / 100 * self.measured, s.FLOOR)
        if self.band:
            self.failed = not (int(row["bytes_low"]) - allowed <= self.measured <=
                               int(row["bytes_high"]) + allowed)
        else:
            self.failed = abs(self.error) > allowed

    def text(self):
        return "%+d of %d bytes, %.4f %%%s%s" % (
            self.error, self.measured, self.percent, ", in glibc's band" if self.band else "",
            ", given " + " ".join(self.inputs) if self.inputs else "")


def weigh(tare, server, shape):
    cell, = s.weigh(tare, server, shape.records, shape.encoding(), shape.dataset(),
                    seed=shape.seed)
    return Outcome(cell)


def shrink(tare, server, shape, outcome):
    """The smallest shape found that still fails, within so many attempts."""
    attempts, tried = 0, {shape.text()}
    progress = True
    while progress and attempts < SHRINK_MOST:
        progress = False
        for candidate in shape.smaller():
            if candidate.text() in tried or attempts >= SHRINK_MOST:
                continue
            tried.add(candidate.text())
            attempts += 1
            result = weigh(tare, server, candidate)
            if result.failed:
                shape, outcome, progress = candidate, result, True
                break
    return shape, outcome


class Property:
    def __init__(self, options, there):
        self.options, self.there = options, there
        self.outcomes, self.lock = [], threading.Lock()
        self.jobs = self.done = 0

    def counted(self, function):
        """The same job, which tells the summary that it is done."""
        def run(tare):
            try:
                return function(tare)
            finally:
                with self.lock:
                    self.done += 1
        self.jobs += 1
        return run

    def job(self, number):
        shape, draw = draw_shape(number, self.options.seed)
        server = draw.choice(self.there)

        def run(tare):
            title = "%s: %s" % (server.name, shape.text())
            outcome = weigh(tare, server, shape)
            with self.lock:
                self.outcomes.append(outcome)
            problem = None
            if outcome.failed:
                small, result = shrink(tare, server, shape, outcome)
                problem = "%s\nsmallest found that fails: tare run %s --server %s\n%s" % (
                    outcome.text(), small.text(), server.option(), result.text())
            return [(title, problem, outcome.text() if problem is None else "")]
        title = "shape %d on %s: %s" % (number, server.name, shape.text())
        return title, self.counted(run)

    def summary(self, tare):
        """The last job: waits for the others, which run beside it."""
        while True:
            with self.lock:
                if self.done == self.jobs:
                    break
            time.sleep(0.1)
        percents = [o.percent for o in self.outcomes]
        beyond = [max(0, abs(o.error) - s.FLOOR) * 100.0 / o.measured for o in self.outcomes]
        median = statistics.median(percents) if percents else 0
        remark = ("seed %d, %d shapes: median error %.4f %%, largest %.4f %%; beyond %d bytes of "
                  "noise median %.4f %%, largest %.4f %%" % (
                      self.options.seed, len(percents), median, max(percents, default=0), s.FLOOR,
                      statistics.median(beyond) if beyond else 0, max(beyond, default=0)))
        problem = None
        if median > MEDIAN_LIMIT:
            problem = "the median error is %.4f %%" % median
        return [("median error of seed %d" % self.options.seed, problem, remark)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--shapes", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parallel", type=int, default=3)
    parser.add_argument("--server", action="append", help="draw from these of `setup.sh list`")
    parser.add_argument("--only", type=int, help="this shape alone")
    options = parser.parse_args()
    there = sorted((server for server in s.found()[0] if server.kind != "mongodb" and
                    (not options.server or server.name in options.server)), key=lambda o: o.name)
    print("# seed %d, %d servers" % (options.seed, len(there)), flush=True)
    numbers = range(options.shapes) if options.only is None else [options.only]
    test = Property(options, there)
    jobs = [test.job(number) for number in numbers]
    jobs.append(("summary", test.summary))
    return run_jobs(jobs, Tare(options.program), options.parallel)


if __name__ == "__main__":
    sys.exit(main())
