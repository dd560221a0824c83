"""What the Python tests share: TAP output, running tare, and an independent check of its CSV."""
import concurrent.futures
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS = ("cell store version allocator engine encoding dataset records state account stage basis "
           "bytes bytes_per_record marginal_bytes_per_record settings").split()
BASES = {
    "payload": {"counted"}, "encoding": {"counted"}, "structure": {"modelled"},
    "rounding": {"modelled"}, "server": {"measured", "derived"},
    "allocator": {"measured", "derived", "modelled"}, "process": {"measured", "derived"},
    "residual": {"residual"}, "total": {"measured"}, "base": {"measured"},
}
TO_ALLOCATED = {"payload", "encoding", "structure", "rounding", "server"}


class Run:
    """A finished command."""

    def __init__(self, code, out, err, seconds, peak):
        self.code, self.out, self.err, self.seconds, self.peak = code, out, err, seconds, peak

    def __repr__(self):
        return "exit %d\nstdout: %s\nstderr: %s" % (self.code, self.out[-2000:], self.err[-2000:])


class Tare:
    """The program under test, with a scratch folder of its own as TMPDIR."""

    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.scratch = tempfile.mkdtemp(prefix="tare-suite-")
        self.environment = dict(os.environ, TMPDIR=self.scratch, LC_ALL="C", NO_COLOR="1")

    def start(self, *arguments, stdin=subprocess.DEVNULL):
        return subprocess.Popen([self.program] + list(arguments), cwd=ROOT, env=self.environment,
                                stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, process, begin=None):
        """Waits; peak is the process's own largest resident size in bytes."""
        begin = begin or time.monotonic()
        out, err = process.stdout, process.stderr
        texts = [b"", b""]
        peak = [0]

        def watch():
            # wait4's ru_maxrss would be the largest of tare and the servers that it waited for
            while True:
                try:
                    with open("/proc/%d/status" % process.pid) as file:
                        for line in file:
                            if line.startswith("VmHWM:"):
                                peak[0] = max(peak[0], int(line.split()[1]) * 1024)
                except (OSError, ValueError):
                    return
                time.sleep(0.005)
        threads = [threading.Thread(target=lambda i=i, f=f: texts.__setitem__(i, f.read()))
                   for i, f in enumerate((out, err))]
        threads.append(threading.Thread(target=watch))
        for thread in threads:
            thread.start()
        _, status = os.waitpid(process.pid, 0)
        for thread in threads:
            thread.join()
        out.close()
        err.close()
        code = os.waitstatus_to_exitcode(status)
        process.returncode = code
        return Run(code, texts[0].decode(), texts[1].decode(), time.monotonic() - begin,
                   peak[0])

    def run(self, *arguments):
        return self.finish(self.start(*arguments))

    def path(self, name):
        return os.path.join(self.scratch, name)

    def leftovers(self):
        """Folders and processes that tare should have removed."""
        folders = [n for n in os.listdir(self.scratch) if n.startswith("tare-")]
        servers = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as file:
                    line = file.read().decode("utf-8", "replace")
            except OSError:
                continue
            if self.scratch in line and int(pid) != os.getpid() and self.program not in line:
                servers.append(line.replace("\0", " "))
        return folders + servers

    def expect_clean(self, patience=3.0):
        end = time.monotonic() + patience
        while self.leftovers() and time.monotonic() < end:
            time.sleep(0.05)
        assert not self.leftovers(), "left behind: %r" % self.leftovers()


def ledgers(path):
    """{(cell, state): {account: row}} of a CSV, after checking all of the contract."""
    found = {}
    with open(path, newline="") as file:
        reader = csv.reader(file)
        head = next(reader)
        assert head[:len(COLUMNS)] == COLUMNS, "columns begin %r" % head
        for line in reader:
            row = dict(zip(head, line))
            accounts = found.setdefault((row["cell"], row["state"]), {})
            assert row["account"] not in accounts, "%s twice" % row["account"]
            row["bytes"] = int(row["bytes"])
            accounts[row["account"]] = row
    assert found, "no rows"
    for name, accounts in found.items():
        check_ledger(name, accounts)
    return found


def check_ledger(name, accounts):
    planned = accounts["total.allocated"]["basis"] == "modelled"
    allocated = resident = 0
    for account, row in accounts.items():
        allowed = BASES[row["stage"]] | ({"modelled"} if planned else set())
        assert row["basis"] in allowed, "%r %s: basis %s" % (name, account, row["basis"])
        if row["stage"] in TO_ALLOCATED or account == "unattributed.allocated":
            allocated += row["bytes"]
        if row["stage"] not in ("total", "base"):
            resident += row["bytes"]
    assert allocated == accounts["total.allocated"]["bytes"], "%r: sum %d" % (name, allocated)
    if "total.resident" in accounts:
        assert resident == accounts["total.resident"]["bytes"], "%r: sum %d" % (name, resident)
    if planned:
        assert not any(r["stage"] in ("residual", "base") for r in accounts.values())
    else:
        bases = {a for a, r in accounts.items() if r["stage"] == "base"}
        expected = {"base.allocated"} | ({"base.resident"} if "total.resident" in accounts
                                         else set())
        assert bases == expected, "%r: base rows %r" % (name, bases)
        assert "unattributed.allocated" in accounts


def shares(accounts):
    """Percent unattributed, of allocated and of resident, as the contract defines them."""
    ua = abs(accounts["unattributed.allocated"]["bytes"])
    of_allocated = 100.0 * ua / accounts["total.allocated"]["bytes"]
    if "total.resident" not in accounts:
        return of_allocated, None
    ur = abs(accounts["unattributed.resident"]["bytes"])
    return of_allocated, 100.0 * (ua + ur) / accounts["total.resident"]["bytes"]


def counted(accounts):
    return {a: r["bytes"] for a, r in accounts.items() if r["basis"] == "counted"}


def load_json(path):
    with open(path) as file:
        return json.load(file)


class Skip(Exception):
    """A test that can't be run here, with the reason."""


def run_jobs(jobs, tare, parallel):
    """Runs (title, function) pairs, some at a time, and prints TAP in their order.

    A function takes the Tare and returns [(title, problem or None, remark)]: one job may hold
    several tests. Jobs measure memory and mostly wait for servers to settle, so that a few of them
    at a time don't disturb each other."""
    number = failures = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=parallel) as pool:
        futures = [(title, pool.submit(function, tare)) for title, function in jobs]
        for title, future in futures:
            try:
                results = future.result()
            except Skip as reason:
                number += 1
                print("ok %d - %s # SKIP %s" % (number, title, reason), flush=True)
                continue
            except Exception:  # a failure of any kind is reported as one
                results = [(title, traceback.format_exc(), "")]
            for name, problem, remark in results:
                number += 1
                failures += problem is not None
                print("%s %d - %s" % ("ok" if problem is None else "not ok", number, name))
                for line in ((problem or "") + "\n" + (remark or "")).splitlines():
                    if line:
                        print("# " + line)
                sys.stdout.flush()
    try:
        tare.expect_clean()
    except AssertionError as left:
        number += 1
        failures += 1
        print("not ok %d - nothing is left behind\n# %s" % (number, left))
    print("1..%d" % number)
    return 1 if failures or not number else 0


def main(tests, program):
    """Runs the functions on one Tare and prints TAP."""
    tare = Tare(program)
    failures = 0
    chosen = [t for t in tests if not sys.argv[2:] or t.__name__ in sys.argv[2:]]
    for number, test in enumerate(chosen, 1):
        title = test.__name__.replace("_", " ")
        begin = time.monotonic()
        try:
            test(tare)
            tare.expect_clean()
        except Exception:  # a failure of any kind is reported as one
            failures += 1
            print("not ok %d - %s" % (number, title))
            for line in traceback.format_exc().splitlines():
                print("# " + line)
        else:
            print("ok %d - %s" % (number, title))
        print("# %.1f s" % (time.monotonic() - begin), flush=True)
    print("1..%d" % len(chosen))
    subprocess.run(["rm", "-rf", tare.scratch], check=False)
    return 1 if failures or not chosen else 0


__all__ = ["ROOT", "Skip", "Tare", "run_jobs", "ledgers", "shares", "counted", "load_json", "main", "signal"]
