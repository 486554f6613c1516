"""The cost of grants: a get with many of them in force, a granted get of a daemon that has just started."""

import json, os
from report import BIN, ROUNDS, SECONDS, line, measure, ratio
from world import Vault

GRANTS, ITEMS = 1000, 100
SERVICE, OTHERS = 5001, range(5002, 5102)
ITEM = "bench/item-042"


class Machine(Vault):
    """The machine's vault, where administrators are root, and others have what they were granted."""

    def __init__(self, folder, settings=""):
        super().__init__(BIN, folder, settings)
        self.store = os.path.join(folder, "store", "vault.db")
        self.command += ["--system", "--store", os.path.dirname(self.store), "--socket", self.socket]

    def make(self, grants):
        self.fill(ITEMS)
        self.be_reachable()
        with self.connect() as connection:
            self.ask(connection, "Set", {"name": "boot/token", "value": "t" * 64, "accessible": "always"})
            for subject, items in grants:
                self.ask(connection, "Grant", {"subject": subject, "items": items, "rights": ["get"]})

    def rate(self, uid):
        return measure("pace", self.socket, uid, 0, SECONDS / 4, frame("Get", name=ITEM))["rate"]


def frame(method, **parameters):
    return json.dumps({"method": "io.vaultd.Vault." + method, "parameters": parameters}, separators=(",", ":"))


def many():
    """A tenth of them for the one that asks, for many items and for the one that it asks for last."""
    own = [(f"user:{SERVICE}", f"home-{i}/*/key") for i in range(GRANTS // 10 - 2)]
    others = [(f"user:{uid}", f"bench/item-{i:03}") for uid in OTHERS for i in range(9)]
    return own + others + [(f"user:{SERVICE}", "boot/*"), (f"user:{SERVICE}", "bench/*")]


def run(sandbox):
    if os.geteuid() != 0:
        return print("\ngrants: skipped, it takes root to be several users")
    os.chmod(sandbox.root, 0o711)
    granted, plain = (sandbox.adopt(Machine(sandbox.folder(name))) for name in ("granted", "plain"))
    granted.make(many())
    plain.make([(f"user:{SERVICE}", "bench/*"), (f"user:{SERVICE}", "boot/*")])
    print(f"\na get with {GRANTS:,} grants in force, beside two for who asks (1/s)")
    for title, uid in (("an administrator", os.geteuid()), ("a granted user", SERVICE)):
        pairs = []
        for _ in range(3 * ROUNDS):
            # In either order, so that what the one leaves behind it is no figure of the other.
            ours, theirs = granted.rate(uid), plain.rate(uid)
            pairs += [(ours, theirs), tuple(reversed((plain.rate(uid), granted.rate(uid))))]
        value, ours, theirs = ratio(pairs)
        line(f"{title}, {GRANTS:,} grants", ours)
        line(f"{title}, two", theirs)
        line(f"{title}: ratio", value, ">= 0.95", value >= 0.95, "x")

    print("\nfrom the socket's first byte, which starts the daemon, to a granted get of an item for the boot (ms)")
    for vault, title in ((granted, f"{GRANTS:,} grants"), (plain, "two grants")):
        vault.stop()
        result = measure("start", 10 * ROUNDS, SERVICE, vault.socket, frame("Get", name="boot/token"), "socket",
                         *vault.command, env=vault.environment)
        goal = ("<= 50", result["median"] <= 50) if vault is granted else ()
        line(f"first byte to the value, {title}, median", result["median"], *goal, unit="ms", least=result["min"],
             most=result["max"])
