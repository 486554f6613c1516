"""The cost of the audit log: gets with it and without, a get whose entry is on the disk before its answer, a check of a
long log, and the room that an entry takes."""

import json, os, statistics, time
from report import BIN, ROUNDS, SECONDS, line, measure, ratio, setting
from store import Rows
from world import Vault

ITEM = "bench/item-042"
ENTRIES = setting("ENTRIES", 1_000_000, 2000)
PIPED, SINGLES = 4000, 100


def frame(**parameters):
    return json.dumps({"method": "io.vaultd.Vault.Get", "parameters": parameters}, separators=(",", ":"))


class Audited(Vault):
    """A vault with an audit log, or without one."""

    asked = 0

    def __init__(self, folder, mode):
        # The log of a million entries is one subject's.
        super().__init__(BIN, folder, f"audit = {mode}\naudit-size = 16g\n")

    def rate(self):
        """Gets a second on one connection, all equal: one entry, and a count."""
        return measure("load", self.socket, 1, SECONDS / 2, frame(name=ITEM))["total"]

    def gets(self, count):
        """Seconds of so many gets in a row, each of which is an entry, as each has a purpose of its own."""
        numbers = range(self.asked, self.asked + count)
        self.asked += count
        frames = [frame(name=ITEM, reason=f"purpose {number}").encode() + b"\0" for number in numbers]
        began = time.perf_counter()
        with self.connect() as connection:
            for start in range(0, count, 100):
                connection.sendall(b"".join(frames[start:start + 100]))
                left = min(100, count - start)
                while left:
                    left -= connection.recv(1 << 16).count(b"\0")
        return time.perf_counter() - began

    def single_times(self):
        """Milliseconds of each of some gets."""
        times = []
        with self.connect() as connection:
            for _ in range(SINGLES):
                began = time.perf_counter()
                self.ask(connection, "Get", {"name": ITEM})
                times.append((time.perf_counter() - began) * 1e3)
        return times

    def check(self):
        """Seconds of a check of all of the log, and the number of its entries."""
        began = time.perf_counter()
        with self.connect() as connection:
            connection.sendall(self.frame("Audit", {"check": True}, more=True))
            replies = b""
            while b'"total":' not in replies[replies.rfind(b"\0", 0, -1) + 1:] or not replies.endswith(b"\0"):
                replies += connection.recv(1 << 16)
        reply = json.loads(replies.split(b"\0")[-2])["parameters"]
        assert reply["faults"] == [] and reply["total"] >= self.asked, reply
        return time.perf_counter() - began, reply["total"]


def run(sandbox):
    vaults = {mode: sandbox.adopt(Audited(sandbox.folder(f"audit-{mode}"), mode)) for mode in ("on", "off", "required")}
    for vault in vaults.values():
        vault.fill(100)
    on, off, required = vaults["on"], vaults["off"], vaults["required"]

    print("\ngets with the audit log and without (1/s)")
    for title, rate in (("equal ones, which are counted", Audited.rate),
                        ("an entry each", lambda vault: PIPED / vault.gets(PIPED))):
        pairs = []
        for _ in range(2 * ROUNDS):
            ours, theirs = rate(on), rate(off)
            pairs += [(ours, theirs), tuple(reversed((rate(off), rate(on))))]
        value, ours, theirs = ratio(pairs)
        line(f"{title}: with", ours)
        line(f"{title}: without", theirs)
        line(f"{title}: ratio", value, ">= 0.9", value >= 0.9, "x")

    print("\na get whose entry is on the disk before its answer (ms)")
    rows = Rows(sandbox.folder("audit-rows"))
    pairs = []
    for _ in range(ROUNDS):
        pairs.append((statistics.median(rows.add(SINGLES)), statistics.median(required.single_times())))
    value, theirs, ours = ratio(pairs)
    line("audit = required, one get", ours, unit="ms")
    line("SQLite, one durable insert of a row", theirs, unit="ms")
    line("ratio of their rates", value, unit="x")

    print(f"\na log of {ENTRIES:,} entries")
    before = os.path.getsize(on.store)
    made = 0
    while made < ENTRIES:
        on.gets(min(20_000, ENTRIES - made))
        made += 20_000
    seconds, entries = min(on.check() for _ in range(3))
    line("check, entries a second", entries / seconds, ">= 200000", entries / seconds >= 200_000, "1/s")
    on.lock()
    time.sleep(1)
    log = on.store + "-wal"
    size = os.path.getsize(on.store) + (os.path.getsize(log) if os.path.exists(log) else 0) - before
    line("room for one entry", size / ENTRIES, unit="bytes")
