#!/usr/bin/env python3
"""Puts the kept reports' figures into README.md: each row of a table there that begins with a cell's name and a
state becomes the row that the cell has in samples/reports/*.md. With --check it only tells which rows differ."""
import glob
import os
import re
import sys

SAMPLES = os.path.dirname(os.path.abspath(__file__))
README = os.path.join(os.path.dirname(SAMPLES), "README.md")
ROW = re.compile(r"^\| ([a-z]+:\S+ \| [a-z]+) \|")


def rows_of(path):
    """{"redis:hash/10 | settled": the whole row} of a report: the first table has them."""
    found = {}
    with open(path) as file:
        for line in file:
            match = ROW.match(line)
            if match:
                found.setdefault(match.group(1), line)
    return found


def main():
    kept, lines, differing = {}, [], []
    for path in sorted(glob.glob(os.path.join(SAMPLES, "reports", "*.md"))):
        for name, row in rows_of(path).items():
            assert name not in kept, "%s is in two reports" % name
            kept[name] = row
    with open(README) as file:
        for line in file:
            match = ROW.match(line)
            if match and kept.get(match.group(1), "") != line:
                differing.append(match.group(1))
                line = kept.get(match.group(1), line)
            lines.append(line)
    if sys.argv[1:] == ["--check"]:
        print("\n".join(differing) if differing else "%d rows are the kept reports'" % sum(map(bool, map(ROW.match, lines))))
        return 1 if differing else 0
    with open(README, "w") as file:
        file.writelines(lines)
    return 0


sys.exit(main())
