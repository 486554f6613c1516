"""What others wait while one user has large RSA keys computed with: another's Get, a Status of root's, and a lock.

The user has no right but `use`, of one key, and comes with many connections, each of which connects, asks and is gone, or each
of which asks again as soon as it is answered. It takes root to be several users."""

import os, subprocess, time
from fairness import judged, unlock
from granting import ITEM, Machine, frame
from report import ROUNDS, SECONDS, line, measure
from sharing import Crowd

USER, OTHER = 5001, 5002
CONNECTIONS = 120
MESSAGE = "m" * 64
# The largest that are made here are of 4,096 bits; of 8,192 one is stored that OpenSSL has made.
KEYS = (("token-2048", "jwt", 2048), ("token-4096", "jwt", 4096), ("sign-4096", "sign", 4096), ("sign-8192", "sign", 8192))


def asked_for(name, use):
    if use == "jwt":
        return frame("IssueToken", name=name, subject="lamp-17")
    return frame("Sign", name=name, value=MESSAGE)


def prepared(sandbox):
    os.chmod(sandbox.root, 0o711)
    vault = sandbox.adopt(Machine(sandbox.folder("computing")))
    vault.make([(f"user:{OTHER}", "bench/*")])
    with vault.connect() as connection:
        vault.converse("AddSlot", {"kind": "recovery"})
        for name, use, bits in KEYS:
            key = subprocess.run(["openssl", "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}"],
                                 check=True, stdout=subprocess.PIPE).stdout.decode()
            vault.ask(connection, "Set", {"name": name, "use": use, "value": key})
            vault.ask(connection, "Grant", {"subject": f"user:{USER}", "items": name, "rights": ["use"]})
        vault.ask(connection, "Grant", {"subject": f"user:{USER}", "items": "made/*", "rights": ["set"]})
    return vault


class Waits:
    """The longest that each of several calls takes meanwhile, in ms, on a connection of its own each time."""

    def __init__(self, vault):
        self.vault = vault

    def of(self, uid, method, parameters, seconds=SECONDS):
        worst, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.perf_counter()
            with self.vault.connect(uid) as connection:
                self.vault.ask(connection, method, parameters)
            worst = max(worst, (time.perf_counter() - began) * 1e3)
            time.sleep(0.001)
        return worst

    def of_lock(self):
        began = time.perf_counter()
        with self.vault.connect() as connection:
            self.vault.ask(connection, "Lock", {})
        return (time.perf_counter() - began) * 1e3


def beside(vault, title, role, count, call):
    waits = Waits(vault)
    gets, states, locks = [], [], []
    for _ in range(ROUNDS):
        with Crowd(vault.socket, USER, role, count, frame=call):
            gets.append(waits.of(OTHER, "Get", {"name": ITEM}))
            states.append(waits.of(None, "Status", {}))
        # One that asks again and again ends at the first refusal, which a lock makes.
        with Crowd(vault.socket, USER, role if role == "vanish" else "flood", count, frame=call):
            time.sleep(0.2)
            locks.append(waits.of_lock())
        unlock(vault)
    judged(f"{title}: a Get", gets)
    judged(f"{title}: a Status", states)
    judged(f"{title}: a lock", locks)


def answers(vault):
    """How much is computed, with one client and with many."""
    for name, use, bits in KEYS:
        result = measure("pace", vault.socket, USER, 0, SECONDS, asked_for(name, use))
        line(f"{use} with RSA of {bits} bits, one client", result["rate"], unit="1/s", p50=result["p50_us"])


def run(sandbox):
    if os.geteuid() != 0:
        return print("\nlarge RSA keys: skipped, it takes root to be several users")
    vault = prepared(sandbox)
    print("\nsignatures by RSA keys (1/s)")
    answers(vault)
    print(f"\nwhat others wait beside one user's RSA keys, {CONNECTIONS} connections (ms, the worst of all rounds)")
    alone = Waits(vault)
    line("alone: a Get", max(alone.of(OTHER, "Get", {"name": ITEM}) for _ in range(ROUNDS)), unit="ms")
    line("alone: a Status", max(alone.of(None, "Status", {}) for _ in range(ROUNDS)), unit="ms")
    for name, use, bits in KEYS:
        call = asked_for(name, use)
        what = "IssueToken" if use == "jwt" else "Sign"
        beside(vault, f"{what}, {bits} bits, connect and vanish", "vanish", CONNECTIONS, call)
        beside(vault, f"{what}, {bits} bits, again and again", "ask", CONNECTIONS, call)
    make = frame("Set", name="made/key", use="sign", update=True, generate={"style": "rsa", "length": 4096})
    beside(vault, "a new key of 4096 bits, connect and vanish", "vanish", CONNECTIONS, make)
    vault.stop()
