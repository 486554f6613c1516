"""Prints and judges figures, and runs the measuring programs."""

import json, os, statistics, subprocess, sys

BIN, PROGRAMS, RESULT = map(os.path.abspath, sys.argv[1:4])
# Everything runs once and shortly, and no figure is printed: they mean nothing.
TRIES = os.environ.get("BENCH_TRY") == "1"
# The programs of another revision, if there are any; where nothing is measured, these are the others as well.
AGAINST = os.path.abspath(sys.argv[4]) if sys.argv[4:] else BIN if TRIES else None


def setting(name, usual, tried):
    """A number from the environment; `usual` where it is not there, or `tried` where nothing is measured."""
    return type(usual)(os.environ.get(f"BENCH_{name}", tried if TRIES else usual))


ROUNDS = setting("ROUNDS", 7, 1)
SECONDS = setting("SECONDS", 1.0, 0.05)
IDLE_SECONDS = setting("IDLE_SECONDS", 60.0, 0.0)
lines = []
# The data of the chart: {"get": {"vault": [[items, milliseconds], …], …}, …}.
series = {}


def pinned(cpu):
    """The beginning of a command that runs on one processor; any, where that is None."""
    return ["taskset", "-c", str(cpu)] if cpu is not None else []


def measure(program, *arguments, cpu=None, first=False, **options):
    """Returns the output of a program beside this file, in C; one that is to be `first` runs before all others."""
    before = pinned(cpu) + (["chrt", "--fifo", "1"] if first else [])
    command = [*before, os.path.join(PROGRAMS, program), *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, **options).stdout)


def line(name, measured, goal=None, passed=None, unit="", quartiles=None, **details):
    lines.append({"name": name, "measured": measured, "unit": unit, "goal": goal, "passed": passed, **details}
                 | ({"quartiles": quartiles} if quartiles else {}))
    if TRIES:
        return
    verdict = {None: "", True: "pass", False: "FAIL"}[passed]
    spread = "  {:.3f} to {:.3f}".format(*quartiles) if quartiles else ""
    print(f"  {name:<58} {measured:>12,.2f} {unit:<5} {goal or '':<10} {verdict}{spread}", flush=True)


def ratio(pairs):
    """The median of each round's own ratio, and both sides' medians."""
    return statistics.median(a / b for a, b in pairs), *map(statistics.median, zip(*pairs))


def conclude():
    """Writes all figures down; the names of the goals that were missed."""
    if TRIES:
        print(f"\nbench: {len(lines)} figures come out of it")
        return []
    missed = [entry["name"] for entry in lines if entry["passed"] is False]
    with open(RESULT, "w") as file:
        json.dump({"cpus": os.cpu_count(), "rounds": ROUNDS, "seconds": SECONDS, "lines": lines, "series": series},
                  file, indent=2)
    print(f"\nwritten to {RESULT}; " + (f"missed: {', '.join(missed)}" if missed else "every goal reached"))
    return missed
