#!/usr/bin/env python3
"""What the kept reports hold beside their jobs, a line a job. usage: kept_reports.py PROGRAM"""
import itertools
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KINDS = {"redis": ("redis", "valkey"), "mongodb": ("mongodb",), "memory": ("memory",)}


def asked(job):
    """(encoding's store, records, states) of each cell, of a store as many as it has servers."""
    for block in job["blocks"]:
        # A list of numbers of threads is a step each.
        steps = sum(step.split("threads=")[-1].split(":")[0].count("/") + 1
                    for step in block["steps"])
        for _, encoding, count, _ in itertools.product(
                block["datasets"], block["encodings"], block["counts"],
                block.get("settings", [{}])):
            store = encoding.split(":")[0]
            servers = [s for s in block.get("servers", [])
                       if s.split("=")[0] in KINDS.get(store, ())]
            for _ in servers or [None]:
                yield store, count, steps


def main():
    for name in ("scalegrid", "servicestack", "citrusbyte", "tw00", "aliostad"):
        with open(os.path.join(ROOT, "samples/jobs/%s.json" % name)) as file:
            wanted = sorted(asked(json.load(file)))
        path = os.path.join(ROOT, "samples/reports/%s" % name)
        with open(path + ".json") as file:
            report = json.load(file)
        cells = report["cells"]
        assert report["command"].startswith("tare run --job samples/jobs/%s.json " % name), name
        assert "--scale" not in report["command"], name
        got = sorted((c["encoding"].split(":")[0], c["records"], len(c["states"]) or None)
                     for c in cells if c["complete"])
        assert got == [w for w in wanted if w[0] in KINDS], (name, got, wanted)
        left = sorted({c["encoding"].split(":")[0] for c in cells if not c["complete"]})
        assert left == sorted({w[0] for w in wanted} - set(KINDS)), (name, left)
        rows = [subprocess.run([sys.argv[1], "report", path + end, "--format", "csv"], check=True,
                               capture_output=True, text=True).stdout.split("\n")
                for end in (".csv", ".json")]
        # A CSV knows nothing of the load's speed, which is not among these.
        assert [",".join(r.split(",")[:16]) for r in rows[0]] == \
            [",".join(r.split(",")[:16]) for r in rows[1]], name
        assert os.path.getsize(path + ".json") < 1 << 20, name
        print("%s: %d cells%s" % (name, len(got), "; no " + ", ".join(left) if left else ""))


main()
