#!/usr/bin/env python3
"""Command-line tests: *.test files of commands and expected output.

  usage: run.py PROGRAM [FILE.test...]

A file holds blocks:
  # a title: the test's name
  $ tare list nothing        a shell command; `tare` is PROGRAM; runs in a folder of the file's own
  expected output            standard output and standard error together, line by line
  ~ a regular expression     matches one line whole
  ...                        matches any number of lines
  [1]                        the exit code, where it isn't 0
Prints TAP.
"""
import os
import re
import subprocess
import sys
import tempfile


def parse(path):
    tests, current, title = [], None, ""
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("# "):
            title = line[2:]
        elif line.startswith("$ "):
            current = {"title": title, "command": line[2:], "expected": [], "exit": 0}
            tests.append(current)
        elif re.fullmatch(r"\[\d+\]", line) and current:
            current["exit"] = int(line[1:-1])
        elif current is not None:
            if line or current["expected"]:
                current["expected"].append(line)
    for test in tests:
        while test["expected"] and test["expected"][-1] == "":
            test["expected"].pop()
    return tests


def line_matches(pattern, line):
    if pattern.startswith("~ "):
        return re.fullmatch(pattern[2:], line) is not None
    return pattern == line


def matches(expected, got):
    if not expected:
        return not got
    if expected[0] == "...":
        return any(matches(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and line_matches(expected[0], got[0]) and matches(expected[1:], got[1:])


def main():
    program = os.path.abspath(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    files = sys.argv[2:] or sorted(
        os.path.join(here, name) for name in os.listdir(here) if name.endswith(".test"))
    files = [os.path.abspath(name) for name in files]
    number = failures = 0
    with tempfile.TemporaryDirectory(prefix="tare-cli-") as scratch:
        os.makedirs(scratch + "/bin")
        os.symlink(program, scratch + "/bin/tare")
        environment = dict(os.environ, PATH=scratch + "/bin:" + os.environ["PATH"], LC_ALL="C",
                           NO_COLOR="1", SAMPLES=os.path.join(here, "..", "..", "samples"),
                           FIXTURES=os.path.join(here, "fixtures"))
        for path in files:
            name = os.path.basename(path)[:-len(".test")]
            folder = os.path.join(scratch, name)
            os.makedirs(folder)
            for test in parse(path):
                number += 1
                run = subprocess.run(["sh", "-c", test["command"]], cwd=folder, env=environment,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, timeout=120)
                got = run.stdout.decode("utf-8", "replace").split("\n")
                if got and got[-1] == "":
                    got.pop()
                while got and got[-1] == "" and test["expected"]:
                    got.pop()
                good = run.returncode == test["exit"] and matches(test["expected"], got)
                print("%sok %d - %s: %s" % ("" if good else "not ", number, name, test["title"]))
                if not good:
                    failures += 1
                    print("#   $ " + test["command"])
                    print("#   exit %d, expected %d" % (run.returncode, test["exit"]))
                    for line in got:
                        print("#   got: " + line)
                    for line in test["expected"]:
                        print("#   expected: " + line)
    print("1..%d" % number)
    return 1 if failures or number == 0 else 0


sys.exit(main())
