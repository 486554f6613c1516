"""The time that others wait while one user has keys computed with: another's Get, a Status of root's, and a lock.

The user has no right but `use`, of one key, and comes with many connections, each of which connects, asks and is gone,
or each of which asks again as soon as it is answered. It takes root to be several users."""

import os, shutil, subprocess, sys, threading, time
from fairness import REVOKED, judged, revoked, unlock
from granting import ITEM, Machine, frame
from report import BIN, ROUNDS, SECONDS, line, measure
from sharing import Crowd
from world import Vault

USER, OTHER = 5001, 5002
CONNECTIONS = 120
MESSAGE = "m" * 64
# The largest that are made here are of 4,096 bits; of 8,192 one is stored that OpenSSL has made.
KEYS = (("token-2048", "jwt", 2048), ("token-4096", "jwt", 4096), ("sign-4096", "sign", 4096),
        ("sign-8192", "sign", 8192))

# The most that one call has made and checked, and a call for more, which is refused before anything is computed.
BATCHES = (("SetMany of two P-256 keys", 2, "p256", "ask"), ("SetMany of 24 Ed25519 keys", 24, "ed25519", "ask"),
           ("SetMany of 128 P-256 keys, refused", 128, "p256", "vanish"))
LARGE = 200 << 20  # bytes of a program's file
LEFT, ITEMS_LEFT = 198, 22  # RSA keys that are left while the vault is locked, nine for each item


def private_key(bits):
    return subprocess.run(["openssl", "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}"],
                          check=True, stdout=subprocess.PIPE).stdout.decode()


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
            vault.ask(connection, "Set", {"name": name, "use": use, "value": private_key(bits)})
            vault.ask(connection, "Grant", {"subject": f"user:{USER}", "items": name, "rights": ["use"]})
        vault.ask(connection, "Grant", {"subject": f"user:{USER}", "items": "made/*", "rights": ["set"]})
        vault.ask(connection, "Set", {"name": "listed", "use": "jwt", "generate": {"style": "hmac"}})
        vault.ask(connection, "Set", {"name": "listed.revoked", "kind": "note", "value": revoked()})
        vault.ask(connection, "Grant", {"subject": f"user:{USER}", "items": "listed", "rights": ["use"]})
        vault.ask(connection, "Grant", {"subject": f"user:{USER}", "items": "listed.revoked", "rights": ["set"]})
        for n in range(ITEMS_LEFT):
            vault.ask(connection, "Set", {"name": f"left/{n}", "use": "sign", "value": private_key(2048)})
        vault.ask(connection, "Grant", {"subject": f"user:{USER}", "items": "left/*", "rights": ["deposit", "set"]})
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
    """Measures the computations in a second, with one client and with many."""
    for name, use, bits in KEYS:
        result = measure("pace", vault.socket, USER, 0, SECONDS, asked_for(name, use))
        line(f"{use} with RSA of {bits} bits, one client", result["rate"], unit="1/s", p50=result["p50_us"])


def batches(vault):
    for title, count, style, role in BATCHES:
        items = [{"name": f"made/{style}-{n}", "update": True, "generate": {"style": style}} for n in range(count)]
        with vault.connect() as connection:
            for item in items:
                vault.ask(connection, "Set", {**item, "use": "sign"})
        beside(vault, title, role, 4, frame("SetMany", items=items))


def long_list(vault):
    with vault.connect() as connection:
        token = vault.ask(connection, "IssueToken", {"name": "listed", "subject": "lamp-17"})["token"]
    for title, call in (
        ("VerifyToken", frame("VerifyToken", name="listed", token=token)),
        ("RevokeToken", frame("RevokeToken", name="listed", subject="lamp-18")),
    ):
        beside(vault, f"{title} with {REVOKED:,} revoked tokens", "ask", 4, call)


def at_an_unlock(vault):
    """Versions that are replaced by what was left are more than an item keeps, so the items are made anew each time."""
    states, key = [], private_key(2048)
    for _ in range(ROUNDS):
        with vault.connect() as connection:
            for n in range(ITEMS_LEFT):
                vault.ask(connection, "Delete", {"names": [f"left/{n}"], "now": True})
                vault.ask(connection, "Set", {"name": f"left/{n}", "use": "sign", "value": key})
        vault.lock()
        with vault.connect(USER) as connection:
            for n in range(LEFT):
                vault.ask(connection, "Deposit", {"name": f"left/{n % ITEMS_LEFT}", "value": key})
        opening = threading.Thread(target=unlock, args=(vault,))
        opening.start()
        waits = []
        while opening.is_alive():
            waits.append(Waits(vault).of(None, "Status", {}, 0.01))
        states.append(max(waits))
    judged(f"an unlock that takes in {LEFT} RSA keys: a Status", states)


CLIENT = """
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.sendall(b'{"method":"io.vaultd.Vault.Get","parameters":{"name":"bench/item-042"}}\\0')
client.recv(65536)
"""


class LargeProgram:
    """A client whose program has a large file, which nobody has read before, while `with` lasts."""

    def __init__(self, vault, folder):
        self.vault, self.path = vault, os.path.join(folder, "large")

    def __enter__(self):
        shutil.copy(os.path.realpath(sys.executable), self.path)
        os.truncate(self.path, LARGE)
        environment = {**os.environ, "PYTHONHOME": sys.base_prefix}
        self.process = subprocess.Popen([self.path, "-c", CLIENT, self.vault.socket], env=environment)
        return self

    def __exit__(self, *_):
        if self.process.wait():
            raise RuntimeError("a client failed")
        os.unlink(self.path)

    @property
    def runs(self):
        return self.process.poll() is None


def large_programs(sandbox):
    """A user's vault in which a grant names the digest of a file."""
    folder = sandbox.folder("programs")
    vault = sandbox.adopt(Vault(BIN, folder))
    vault.fill(100)
    vault.converse("AddSlot", {"kind": "recovery"})
    vault.converse("Authenticate", {"interactive": True})
    with vault.connect() as connection:
        vault.ask(connection, "Grant", {"subject": f"user:{os.geteuid()},sha256:{'0' * 64}", "items": "bench/*",
                                        "rights": ["get"]})
    waits, times = Waits(vault), {"a Get": [], "a Status": [], "a lock": []}
    for _ in range(ROUNDS):
        for title, method, parameters in (("a Get", "Get", {"name": ITEM}), ("a Status", "Status", {})):
            with LargeProgram(vault, folder) as program:
                worst = 0
                while program.runs:
                    worst = max(worst, waits.of(None, method, parameters, 0.01))
                times[title].append(worst)
        with LargeProgram(vault, folder):
            time.sleep(0.1)
            times["a lock"].append(waits.of_lock())
        unlock(vault)
    for title, worst in times.items():
        judged(f"a program of {LARGE >> 20} MiB comes: {title}", worst)
    vault.stop()


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
    print("\nwhat others wait beside one user's batches of keys, tokens and deposits (ms, the worst of all rounds)")
    batches(vault)
    long_list(vault)
    at_an_unlock(vault)
    vault.stop()
    print("\nwhat others wait beside a program that comes in a user's vault (ms, the worst of all rounds)")
    large_programs(sandbox)
