"""The servers there are, and what the tests of many servers share: cells of a run beside plan's."""
import os
import re
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import ROOT, ledgers, load_json  # noqa: E402

FLOOR = 16 * 1024  # used_memory's own noise: buffers of clients come and go
HANDED_OUT_WHOLE = "hands chunks out whole"  # the reason that tare gives for a band on glibc


class Server:
    """One line of `setup.sh list`: redis-3.2.6-libc /path/to/redis-server."""

    def __init__(self, name, program):
        self.name, self.program = name, program
        self.kind, self.version = re.match(r"([a-z]+)-([0-9.]+)", name).groups()

    def option(self, engine=None):
        return "%s=%s%s" % (self.kind, self.program, ",engine=" + engine if engine else "")


def found():
    """The servers that are ready, and the names of those that set-up knows but that aren't here."""
    text = subprocess.run([os.path.join(ROOT, "setup.sh"), "list"], capture_output=True, text=True,
                          check=True).stdout
    servers = [Server(*line.split(" ", 1)) for line in text.splitlines()]
    names = {server.name for server in servers}
    with open(os.path.join(ROOT, "setup.sh")) as file:
        script = file.read()
    known = []
    for array in re.findall(r"^(?:more_)?servers=\(([^)]*)\)", script, re.M):
        known += array.split()
    assert known, "setup.sh names no servers"
    return servers, [name for name in known if name not in names]


class Cell:
    """A cell of `run`, with what `plan` says of it."""

    def __init__(self, accounts, cell, planned):
        self.accounts, self.json, self.planned = accounts, cell, planned
        self.name = cell["name"]
        self.state = cell["states"][0]
        self.notes = " ".join(self.state["notes"])
        self.given = None  # rows of plan --given with the cell's state inputs

    def bytes(self, account):
        return self.accounts[account]["bytes"] if account in self.accounts else 0

    def inputs(self):
        """The state inputs, NAME=VALUE, as the settings column shows them."""
        shown = dict(word.split("=", 1) for word in
                     self.accounts["total.allocated"]["settings"].split() if "=" in word)
        names = [name for name in self.state["inputs"] if not name.endswith(".source")]
        for name in names:
            assert name in shown, "state input %s is not among the settings" % name
            assert self.state["inputs"].get(name + ".source"), "%s has no source" % name
        return ["%s=%s" % (name, shown[name]) for name in names]

    def band(self):
        """Whether tare states that glibc makes this cell's blocks larger than it can know."""
        return HANDED_OUT_WHOLE in self.notes


class Failure(Exception):
    """tare itself failed; the text is what it said."""


counter_lock = threading.Lock()
counter = [0]


def scratch_name(tare, suffix):
    with counter_lock:
        counter[0] += 1
        return tare.path("%d.%s" % (counter[0], suffix))


def must(tare, *arguments):
    run = tare.run(*arguments)
    if run.code != 0:
        raise Failure("tare %s\n%r" % (" ".join(arguments), run))
    return run


def weigh(tare, server, records, encodings, dataset, engine=None, seed=1, more=()):
    """Runs the encodings on fresh servers and plans the same; the list of Cells."""
    what = ["-n", str(records), "-d", dataset, "-e", encodings, "--server", server.option(engine),
            "--seed", str(seed), "-q", *more]
    paths = [scratch_name(tare, s) for s in ("run.csv", "run.json", "plan.csv", "given.csv")]
    csv_path, json_path, plan_path, given_path = paths
    try:
        must(tare, "run", *what, "--export-csv", csv_path, "--export-json", json_path)
        must(tare, "plan", *what, "--export-csv", plan_path)
        measured, planned = ledgers(csv_path), ledgers(plan_path)
        cells = []
        for one in load_json(json_path)["cells"]:
            key = (one["name"], "settled")
            cell = Cell(measured[key], one, planned[key])
            given = [word for pair in cell.inputs() for word in ("--given", pair)]
            what[5] = one["encoding"]
            must(tare, "plan", *what, *given, "--export-csv", given_path)
            cell.given = next(iter(ledgers(given_path).values()))
            cells.append(cell)
        return cells
    finally:
        for path in paths:
            if os.path.exists(path):
                os.unlink(path)
