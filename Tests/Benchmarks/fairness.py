"""The cost of one client's heavy calls to the others: the time that a Status, another's Get and a lock wait beside
them."""

import os, pickle, random, signal, statistics, subprocess, sys, threading, time
from report import BIN, ROUNDS, SECONDS, line
from world import Vault

ITEMS = 3072
BATCH = 62  # 64 KiB of names and attributes, the most in one call, are of 63 items with such attributes
SMALL = 384  # the most that one call stores
DELETED = 128  # the most that one call deletes
GOAL = 20
CLIENTS = 240
FRAME = 2 << 20
# It fits no value, and each character of the value leads to all that came before it.
COSTLY = "serial~" + "*a" * 510 + "b"
REVOKED = 12_000  # entries of a list of revoked tokens, in nearly a MiB
# Locks in a round, each at some time within what the clients do.
LOCKS = 4

PROBED = "probed"  # the item that a probe gets

PROBE = """
import select, socket, sys, time
calls = [b'{"method":"io.vaultd.Vault.Status"}\\0',
         b'{"method":"io.vaultd.Vault.Get","parameters":{"name":"%s"}}\\0' % sys.argv[2].encode()]
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
print("ready", flush=True)
worst = [0, 0]
while not select.select([0], [], [], 0.0002)[0]:
    for i, call in enumerate(calls):
        began = time.perf_counter()
        connection.sendall(call)
        answer = b""
        while not answer.endswith(b"\\0"):
            answer += connection.recv(65536)
        worst[i] = max(worst[i], (time.perf_counter() - began) * 1e3)
print(*worst)
"""

# Sends what each of them has to say when it is told to, and reads what comes, unless they do not read. In the end it
# says how many replies were refusals.
SENDERS = """
import pickle, socket, sys, threading
loads, reads = pickle.load(sys.stdin.buffer)
clients = []
for _ in loads:
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    clients.append(client)
print("ready", flush=True)
sys.stdin.buffer.read(1)
def send(client, load):
    try:
        client.sendall(load)
        client.shutdown(socket.SHUT_WR)
    except OSError:
        pass
refusal, refused, first = b'\\0{"error":', [], []
def run(client, load):
    sender = threading.Thread(target=send, args=(client, load), daemon=True)
    sender.start()
    rest = b"\\0"
    try:
        while part := client.recv(1 << 20):
            part = rest + part
            refused.append(part.count(refusal))
            if refused[-1] and not first:
                first.append(part[part.index(refusal) + 1:][:300].split(b"\\0")[0].decode())
            # A part may end within the words that are sought.
            rest = part[1 - len(refusal):]
    except OSError:
        pass
if reads:
    threads = [threading.Thread(target=run, args=each) for each in zip(clients, loads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(refused), *first, flush=True)
else:
    for client, load in zip(clients, loads):
        client.sendall(load)
    print("sent", flush=True)
    sys.stdin.buffer.read(1)
"""

# Watches over many connections, and reads.
WATCHERS = """
import selectors, socket, sys
selector = selectors.DefaultSelector()
for _ in range(int(sys.argv[2])):
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    client.sendall(b'{"method":"io.vaultd.Vault.Monitor","more":true}\\0')
    client.recv(65536)
    selector.register(client, selectors.EVENT_READ)
selector.register(0, selectors.EVENT_READ)
print("ready", flush=True)
while True:
    for key, _ in selector.select():
        if key.fd == 0:
            sys.exit()
        if not key.fileobj.recv(1 << 20):
            sys.exit("a watcher was cut off")
"""


class Process:
    """A Python program of its own, which has said that it is ready."""

    def __init__(self, source, *arguments, given=None):
        self.process = subprocess.Popen([sys.executable, "-c", source, *map(str, arguments)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if given is not None:
            pickle.dump(given, self.process.stdin)
            self.process.stdin.flush()
        self.expect(b"ready\n")

    def expect(self, words):
        if self.process.stdout.readline() != words:
            raise RuntimeError(f"a client did not say {words}")

    def tell(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def wait(self):
        """Waits for its end, and returns the rest of its output."""
        said = self.process.communicate()[0]
        if self.process.returncode:
            raise RuntimeError("a client failed")
        return said


def filled(i, folders=1, length=1000):
    return {"name": "/".join([f"set-{i // BATCH}"] * folders + [f"item-{i}"]), "value": f"{i:064}",
            "attributes": {"serial": "a" * length, "number": str(i)}}


def revoked():
    """A list of revoked tokens of nearly a MiB, in no order."""
    numbers = list(range(REVOKED))
    random.Random(REVOKED).shuffle(numbers)
    return '{"revoked":[%s]}' % ",".join(f'{{"jti":"{n:032x}","exp":9999999999,"age":-9999999}}' for n in numbers)


def alone(vault):
    """The longest that a Status waits, and a Get, in ms, while nobody else asks."""
    probe = Probe(vault)
    time.sleep(SECONDS)
    return probe.end()


class Heavy:
    """Some clients that keep the daemon busy: what each of them sends in a round."""

    def __init__(self, title, loads, watchers=0):
        self.title, self.loads, self.watchers = title, loads, watchers

    def during(self, vault, round, body):
        """Returns the result of `body`, called while the clients have their answers, with a way to wait for the last
        one."""
        watchers = Process(WATCHERS, vault.socket, self.watchers) if self.watchers else None
        senders = Process(SENDERS, vault.socket, given=(self.loads(round), True))
        try:
            return body(senders)
        finally:
            senders.wait()
            if watchers:
                watchers.tell()
                watchers.wait()

    def waits(self, vault, round):
        """The longest that a Status waits, and a Get, in ms."""
        def measure(senders):
            probe = Probe(vault)
            senders.tell()
            senders.process.wait()
            return probe.end()
        return self.during(vault, round, measure)

    def duration(self, vault, round):
        def measure(senders):
            began = time.perf_counter()
            senders.tell()
            senders.process.wait()
            return time.perf_counter() - began
        return self.during(vault, round, measure)

    @staticmethod
    def tells_of_lock(vault, connection):
        try:
            return vault.ask(connection, "Status", {})["state"] == "locked"
        except RuntimeError as error:
            # A lock refuses the calls that have come and wait for their turn.
            return error.args[0]["error"].endswith(".Locked")

    def wait_of_lock(self, vault, round, duration, by_signal):
        """Returns the time that a lock takes at some moment of their work, in ms: until its answer, or, by a signal,
        until a Status tells of it."""
        def measure(senders):
            with vault.connect() as connection:
                vault.ask(connection, "Status", {})
                senders.tell()
                time.sleep(random.uniform(0, 0.9 * duration))
                began = time.perf_counter()
                if by_signal:
                    os.kill(vault.pid, signal.SIGUSR1)
                    while not self.tells_of_lock(vault, connection):
                        pass
                else:
                    vault.ask(connection, "Lock", {})
                return (time.perf_counter() - began) * 1e3
        try:
            return self.during(vault, round, measure)
        finally:
            unlock(vault)


class Probe(Process):
    """A client that asks for the state and for a small item in turns."""

    def __init__(self, vault, item=PROBED):
        super().__init__(PROBE, vault.socket, item)

    def end(self):
        """The longest that a Status waited, and a Get, in ms."""
        self.tell()
        return tuple(map(float, self.wait().split()))


def unlock(vault):
    # A recovery code needs no Argon2id.
    vault.converse("Unlock", {"method": "recovery"}, vault.recovery_code)


def waits_of_locks(vault, work, prepare=lambda number: None):
    """Returns the times that some locks take, each at some moment of `work`, in ms. The lock may end the work."""
    def try_work(number):
        try:
            work(number)
        except (RuntimeError, ConnectionError):
            pass
    prepare(0)
    began = time.perf_counter()
    work(0)
    duration, waits = time.perf_counter() - began, []
    for number in range(1, LOCKS * ROUNDS + 1):
        prepare(number)
        with vault.connect() as connection:
            vault.ask(connection, "Status", {})
            working = threading.Thread(target=try_work, args=(number,))
            working.start()
            time.sleep(random.uniform(0, 0.9 * duration))
            began = time.perf_counter()
            vault.ask(connection, "Lock", {})
            waits.append((time.perf_counter() - began) * 1e3)
            working.join()
            # An unlock that came after the lock has opened the vault again.
            if vault.ask(connection, "Status", {})["state"] != "unlocked":
                unlock_in_time(vault)
    return waits


def unlock_in_time(vault):
    """Unlocks by the password as soon as that is possible: an attempt that a lock has cut off counts as one that
    failed."""
    while True:
        try:
            return vault.converse("Unlock", {"method": "password"})
        except RuntimeError as error:
            if not error.args[0]["error"].endswith(".BackingOff"):
                raise
            time.sleep(error.args[0]["parameters"]["retry_after_ms"] / 1e3)


def calls(vault):
    """Each heavy call, as what the clients send in a round."""
    def find(query, more=True):
        return vault.frame("Find", {"query": query}, more=more)

    def many(round, folders, count, times=4, length=1000):
        """Stored and deleted again, some times over, so that nothing else goes on meanwhile."""
        frames = []
        for part in range(times):
            items = [filled(i, folders, length) for i in range(count)]
            for item in items:
                item["name"] = f"r{round}.{part}/{item['name']}"
            names = [item["name"] for item in items]
            frames.append(vault.frame("SetMany", {"items": items}))
            frames += [vault.frame("Delete", {"names": names[at:at + DELETED]}) for at in range(0, count, DELETED)]
        return [b"".join(frames)]

    yield Heavy(f"Find with a costly pattern, {ITEMS:,} items", lambda _: [find(COSTLY)])
    yield Heavy("Find with more, everything", lambda _: [find("") * 5])
    yield Heavy("six of the costly ones on one connection", lambda _: [find(COSTLY) * 6])
    yield Heavy("100 pages on one connection", lambda _: [find("", more=False) * 100])
    yield Heavy("the costly one of 32 clients", lambda _: [find(COSTLY)] * 32)
    yield Heavy(f"SetMany and Delete of {BATCH} items", lambda n: many(n, 1, BATCH))
    yield Heavy(f"SetMany and Delete of {SMALL} small items", lambda n: many(n, 0, SMALL, length=8))
    yield Heavy("SetMany and Delete of 15 items with 30 folders", lambda n: many(n, 29, 15))
    yield Heavy(f"SetMany and Delete of {BATCH} beside {CLIENTS} monitors", lambda n: many(n, 1, BATCH),
                watchers=CLIENTS)
    yield Heavy("ten changes of the class of an item with a MiB of versions", lambda _: [b"".join(
        vault.frame("Set", {"name": "kept", "accessible": accessible, "update": True})
        for accessible in ("after-first-unlock", "when-unlocked") * 5)])
    yield Heavy(f"Set of a list of {REVOKED:,} revoked tokens, five times", lambda _: [
        vault.frame("Set", {"name": "tokens.revoked", "value": revoked(), "kind": "note", "update": True}) * 5])
    yield Heavy(f"{CLIENTS} clients that get 150 kB", lambda _: [vault.frame("Get", {"name": "large"})] * CLIENTS)
    yield Heavy("the costliest frames of 2 MiB", lambda _: [frame[:FRAME] + b"\0" for frame in costly_frames()] * 4)


def costly_frames():
    """Returns frames that take long to read for their length, each in another way."""
    def call(method, parameters):
        return b'{"method":"io.vaultd.Vault.%s","parameters":%s}' % (method, parameters)

    def filling(part, most=1_990_000):
        return part * (most // len(part))

    def members(count, length=0):
        return b",".join(b'"%06d%s":0' % (i, b"k" * length) for i in range(count))

    objects = b"{" + members(12) + b"},"
    yield call(b"Status", b'{"a":[' + filling(b"0,") + b"0]}")
    yield call(b"Status", b'{"a":[' + objects * 1300 + b"0]}")
    yield call(b"Status", b'{"a":{' + b",".join(
        b'"%s%x":0' % (b"\\u0041" * 27_000, i) for i in range(12)) + b"}}")
    yield call(b"Status", b'{"a":{' + members(12, 165_000) + b"}}")
    yield call(b"Set", b'{"name":"a","value":"v","attributes":{' + members(150_000) + b"}}")
    yield call(b"Set", b'{"name":"a","value":"v","attributes":{' + members(200, 9000) + b"}}")
    yield call(b"Set", b'{"name":"a","value":"v",' + members(180_000) + b"}")
    yield call(b"Set", b'{"name":"' + filling(b"\\u0041") + b'","value":"v"}')
    yield call(b"SetMany", b'{"items":[' + filling(b'{"name":"a","value":""},') + b"0]}")
    yield call(b"SetMany", b'{"items":[' + b'{"name":"a","value":""},' * 6000 + b'{"name":"a"}]}')
    yield call(b"Delete", b'{"names":[' + b'"a",' * 32_000 + b'"a"]}')
    yield call(b"Find", b'{"query":"' + filling(b"\\n") + b'"}')
    yield call(b"Authenticate", b'{"name":"a","reason":"' + filling("é".encode()) + b'"}')[:-1] + b',"more":true}'
    yield b'{"method":"' + filling(b"m") + b'"}'


def waiting_gets(vault, count):
    """The longest that a Status waits while an unlock lets many waiting Gets go on, in ms."""
    vault.lock()
    frame = vault.frame("Get", {"name": "large", "wait_ms": 60_000})
    senders = Process(SENDERS, vault.socket, given=([frame] * count, True))
    senders.tell()
    # They have come when all of the clients' threads have sent theirs.
    time.sleep(0.3)
    probe = Probe(vault)
    unlock(vault)
    senders.wait()
    return probe.end()[0]


def beside_non_readers(vault, count):
    """Returns the time that a Status and the large Get of another process wait beside many that do not read theirs, in
    ms."""
    frame = vault.frame("Get", {"name": "megabyte"})
    probe = Probe(vault)
    senders = Process(SENDERS, vault.socket, given=([frame] * count, False))
    senders.tell()
    senders.expect(b"sent\n")
    with vault.connect() as connection:
        began = time.perf_counter()
        vault.ask(connection, "Get", {"name": "megabyte"})
        elapsed = (time.perf_counter() - began) * 1e3
    wait, _ = probe.end()
    senders.tell()
    senders.wait()
    return wait, elapsed


def prepared(sandbox):
    vault = sandbox.adopt(Vault(BIN, sandbox.folder("fairness")))
    vault.converse("Init", {"kdf_memory": 19 << 20, "kdf_passes": 2, "recovery": True})
    with vault.connect() as connection:
        if vault.ask(connection, "Status", {})["state"] != "unlocked":
            unlock(vault)
        for first in range(0, ITEMS, BATCH):
            vault.ask(connection, "SetMany", {"items": [filled(i) for i in range(first, min(first + BATCH, ITEMS))]})
        for name, size in ((PROBED, 64), ("large", 150_000), ("megabyte", 1_000_000)):
            vault.ask(connection, "Set", {"name": name, "value": "v" * size, "kind": "note"})
        vault.ask(connection, "Set", {"name": "tokens", "use": "jwt", "generate": {"style": "hmac"}})
        vault.ask(connection, "Set", {"name": "tokens.revoked", "value": '{"revoked":[]}', "kind": "note"})
        # As many older versions as are kept, and the current one.
        for _ in range(3):
            vault.ask(connection, "Set", {"name": "kept", "value": "v" * (1 << 20), "kind": "note", "update": True})
    return vault


def judged(title, waits, goal=GOAL):
    worst = max(waits)
    line(title, worst, f"<= {goal}", worst <= goal, "ms", median=statistics.median(waits), waits=waits)


def judged_both(title, waits):
    """Judges what a Status has waited, and a Get."""
    for what, each in zip(("a Status", "a Get"), zip(*waits)):
        judged(f"{title}: {what}", each)


def run(sandbox):
    print("\nwhat others wait beside one client's heavy calls (ms, the worst of all rounds)")
    vault = prepared(sandbox)
    judged_both("nothing", [alone(vault) for _ in range(ROUNDS)])
    for heavy in calls(vault):
        judged_both(heavy.title, [heavy.waits(vault, n) for n in range(ROUNDS)])
    judged(f"{CLIENTS} Gets of 150 kB at an unlock: a Status", [waiting_gets(vault, CLIENTS) for _ in range(ROUNDS)])
    waits = [beside_non_readers(vault, 80) for _ in range(ROUNDS)]
    judged("80 that do not read 1 MB: a Status", [status for status, _ in waits])
    judged("80 that do not read 1 MB: a large Get of another", [large for _, large in waits], 1500)
    for heavy in calls(vault):
        duration = heavy.duration(vault, ROUNDS)
        waits = [heavy.wait_of_lock(vault, f"l{n}", duration, by_signal=n % 2 == 0) for n in range(LOCKS * ROUNDS)]
        judged(heavy.title + ": a lock", waits)
    vault.stop()
