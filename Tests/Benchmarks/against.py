"""The programs of another revision beside these, in turns (A B B A): requests, `vault get`, the start, memory and the
signatures of the ssh-agent. Each ratio says how much better these are: below 1 they are slower, or take more memory."""

import os, statistics, time
from granting import frame
from report import AGAINST, BIN, ROUNDS, SECONDS, TRIES, line, measure, ratio
from world import Desktop, Vault

KEY, ITEM, ITEMS = "ssh/bench", "bench/item-042", 100
STARTS, GETS = 10, 30
GOAL = 0.97


class Side(Vault):
    """A vault of one revision's programs."""

    def __init__(self, binaries, folder):
        super().__init__(binaries, folder, "ssh-agent = on\n")
        self.client, self.folder = os.path.join(binaries, "vault"), folder

    def signatures(self, clients):
        socket = os.path.join(os.path.dirname(self.socket), "ssh.socket")
        return measure("agent", socket, clients, SECONDS, "sign")["total"]

    def requests(self, clients, cpu=None):
        self.pin(os.sched_getaffinity(0) if cpu is None else {cpu})
        return measure("load", self.socket, clients, SECONDS, frame("Get", name=ITEM), cpu=cpu)["total"]

    def get_time(self):
        return measure("processes", GETS, self.client, "get", ITEM, env=self.environment)[0]["median"]

    def start_time(self):
        return measure("start", STARTS, os.geteuid(), self.socket, frame("Status"), "ready", *self.command,
                       env=self.environment)["median"]

    def memory(self):
        """Megabytes of a daemon that has started, was unlocked, has answered and rests."""
        self.open()
        self.desktop.await_inhibitor()
        self.converse("Unlock", {"method": "password"})
        with self.connect() as connection:
            for number in range(ITEMS):
                self.ask(connection, "Get", {"name": f"bench/item-{number:03}"})
        time.sleep(0 if TRIES else 1)
        resident = self.resident_bytes()
        self.stop()
        return resident / 1e6


def compare(sides, title, figure, unit="1/s"):
    """Prints the figure of both sides, of which more is better in rates alone."""
    pairs = []
    for _ in range(ROUNDS):
        for turn in (sides, sides[::-1]):
            figures = {side: figure(side) for side in turn}
            pairs.append(tuple(figures[side] for side in sides))
    medians = map(statistics.median, zip(*pairs))
    for whose, median in zip(("this revision", "the other"), medians):
        line(f"{title}: {whose}", median, unit=unit)
    if unit != "1/s":
        pairs = [pair[::-1] for pair in pairs]
    low, _, high = statistics.quantiles((a / b for a, b in pairs), method="inclusive")
    value = ratio(pairs)[0]
    line(f"{title}: ratio", value, f">= {GOAL}", value >= GOAL, "x", quartiles=(low, high))


def run(sandbox):
    if AGAINST is None:
        return print("\nanother revision: skipped: BENCH_AGAINST names none")
    print("\nthese programs and those of another revision, in turns; below 1 these are worse")
    sides = [sandbox.adopt(Side(programs, sandbox.folder(name))) for name, programs in (("new", BIN), ("old", AGAINST))]
    for side in sides:
        side.fill(ITEMS)
        with side.connect() as connection:
            side.ask(connection, "Set", {"name": KEY, "use": "ssh", "generate": {"style": "ed25519"}})
    compare(sides, "Get on one connection", lambda side: side.requests(1))
    compare(sides, "Get, both ends on one CPU", lambda side: side.requests(1, cpu=0))
    compare(sides, "Get on 64 connections", lambda side: side.requests(64))
    compare(sides, "ssh signature, 1 client", lambda side: side.signatures(1))
    compare(sides, "ssh signature, 64 clients", lambda side: side.signatures(64))
    compare(sides, "vault get, a whole process", Side.get_time, "ms")
    for side in sides:
        side.stop()
    compare(sides, "daemon start to first answer", Side.start_time, "ms")
    # From here on their buses are there, and the daemons listen to them.
    for side in sides:
        side.desktop = sandbox.adopt(Desktop(side.folder))
    compare(sides, "memory at rest, unlocked", Side.memory, "MB")
