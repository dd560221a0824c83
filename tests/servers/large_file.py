#!/usr/bin/env python3
"""Files that are larger than memory may grow: 5 GB of NDJSON through plan and encode with tare under
64 MiB resident; a JSON array, CSV and BSON of a fifth of that. usage: large_file.py PROGRAM [GB]

The files are made here, one at a time, and removed; without room for them the tests are skipped.
"""
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import Skip, Tare, ledgers, run_jobs  # noqa: E402

LIMIT = 64 * 1024 * 1024
BLOCK_RECORDS = 20000


FORMS = {  # what begins the file, a line up to its number, the rest of it, what ends the file
    "ndjson": ("", '{"id":%d', ',"text":"%s","inner":{"n":%d,"b":%s}}\n', ""),
    "json": ("[\n", '{"id":%d', ',"text":"%s","inner":{"n":%d,"b":%s}},\n', '{"id":-1}]\n'),
    "csv": ("id,text,n,b\n", "%d", ',"%s",%d,%s\n', ""),
}


def write_file(path, form, size):
    """Records whose texts differ in length; returns how many. Blocks of the same texts follow one
    another under numbers of their own, so that writing is quick."""
    words = ["river", "stone", "lantern", "harbour", "to", "of", "quiet", "Zürich", "morning"]
    head, begin, rest, end = FORMS[form]
    draw = random.Random(1)
    block = [rest % (" ".join(draw.choices(words, k=draw.randint(20, 220))),
                     draw.randint(-10 ** 9, 10 ** 12), draw.choice(["true", "false"]))
             for _ in range(BLOCK_RECORDS)]
    count = 0
    with open(path, "w", encoding="utf-8", buffering=1 << 20) as out:
        out.write(head)
        while os.path.getsize(path) < size:
            out.write("".join(begin % (count + i) + line for i, line in enumerate(block)))
            count += BLOCK_RECORDS
        out.write(end)
    return count + bool(end)


COMMANDS = (
    ("plan", ",numbered", ["plan", "-e", "redis:hash,mongodb:document"]),
    ("plan by key", ",key=id", ["plan", "-e", "redis:string+json"]),
    ("encode", ",numbered", ["encode", "-e", "msgpack", "-o", "/dev/null"]),
    ("encode by key", ",key=id", ["encode", "-e", "cbor+lz4", "-o", "/dev/null"]),
)


def make(tare, form, size):
    """The file and how many records it has."""
    free = shutil.disk_usage(tare.scratch).free
    if free < size * 2.5 + 1e9:
        raise Skip("%.1f GB are free in %s" % (free / 1e9, os.path.dirname(tare.scratch)))
    path = tare.path("large." + form)
    if form != "bson":
        return path, write_file(path, form, size)
    source = tare.path("source.ndjson")
    count = write_file(source, "ndjson", size)
    run = tare.run("encode", "-d", "file:" + source, "-e", "bson", "-o", path)
    os.remove(source)
    assert run.code == 0, run
    return path, count


def pass_through(form, size):
    def job(tare):
        path, count = make(tare, form, size)
        size_made = os.path.getsize(path)
        results = []
        for title, options, words in COMMANDS:
            csv_path = tare.path("plan.csv")
            export = ["-q", "--export-csv", csv_path] if words[0] == "plan" else []
            run = tare.run(words[0], "-d", "file:" + path + options, *words[1:], *export)
            problem = None
            if run.code:
                problem = repr(run)
            elif run.peak >= LIMIT:
                problem = "%d bytes resident" % run.peak
            elif export:
                told = {row["records"] for accounts in ledgers(csv_path).values()
                        for row in accounts.values()}
                problem = None if told == {str(count)} else "records %r, not %d" % (told, count)
            results.append(("%s of %.1f GB of %s" % (title, size_made / 1e9, form), problem,
                            "%d records, %.1f MiB resident at most, %.0f MB/s" %
                            (count, run.peak / 2 ** 20, size_made / run.seconds / 1e6)))
        os.remove(path)
        return results
    return job


def main():
    size = (float(sys.argv[2]) if len(sys.argv) > 2 else 5) * 1e9
    tare = Tare(sys.argv[1])
    jobs = [("%s of %.1f GB" % (form, size * share / 1e9), pass_through(form, size * share))
            for form, share in (("ndjson", 1), ("json", 0.2), ("csv", 0.2), ("bson", 0.2))]
    try:
        return run_jobs(jobs, tare, 1)
    finally:
        shutil.rmtree(tare.scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
