"""A store as it grows: every figure at BENCH_ITEMS items, beside the same with few, or beside another tool's."""

import glob, json, os, random, shutil, sqlite3, statistics, subprocess, time
from report import BIN, PROGRAMS, ROUNDS, SECONDS, line, measure, ratio, setting
from tools import KeePassXC, Pass
from world import PASSWORD, Keyring, LargeKeyring, Server, Vault

ITEMS = setting("ITEMS", 1_000_000, 20_000)
FEW = 1000
MIDDLE = 100_000
FOLDER = 20
SERVICE = 5001
MATCHES = 10
KEYRING_ITEMS = 10_000
BATCH = 375  # the most such items in one call
SINGLES = 100
MANY = 1000
CALLS = 3  # that store them
# A write that is not on the disk when it is answered would make any rate possible.
SQLITE_DURABLE = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"


def item(i, count):
    """Item `i` of `count`: in a folder of 20, and with an attribute that 10 share, scattered over the store."""
    return {"name": f"home-{i // FOLDER:05}/device-{i % FOLDER:02}", "kind": "device-token", "value": f"{i:064}",
            "attributes": {"serial": f"{i:08}", "batch": f"{i % (count // MATCHES):06}"}}


def plaintext_bytes(item):
    pairs = [item["name"], item["kind"], item["value"], *item["attributes"], *item["attributes"].values()]
    return sum(len(text.encode()) for text in pairs)


class Store(Vault):
    """A vault of `count` items, which a recovery code opens too."""

    def __init__(self, folder, count):
        super().__init__(BIN, folder)
        self.count = count

    def make(self):
        self.converse("Init", {"kdf_memory": 19 << 20, "kdf_passes": 2, "recovery": True})
        self.unlock()

    def unlock(self):
        """Seconds that it takes without Argon2id, which a recovery code does not need."""
        with self.connect() as connection:
            if self.ask(connection, "Status", {})["state"] == "unlocked":
                self.ask(connection, "Lock", {})
        return self.converse("Unlock", {"method": "recovery"}, self.recovery_code)

    def add(self, numbers, batch=BATCH):
        """Stores items in batches; the seconds that the daemon takes for it."""
        elapsed = 0
        with self.connect() as connection:
            for first in range(numbers.start, numbers.stop, batch):
                items = [item(i, self.count) for i in range(first, min(first + batch, numbers.stop))]
                frame = self.frame("SetMany", {"items": items})
                began = time.perf_counter()
                connection.sendall(frame)
                self.answer(connection)
                elapsed += time.perf_counter() - began
        return elapsed

    def add_singly(self, numbers):
        """Milliseconds of each durable set."""
        times = []
        with self.connect() as connection:
            for i in numbers:
                frame = self.frame("Set", item(i, self.count))
                began = time.perf_counter()
                connection.sendall(frame)
                self.answer(connection)
                times.append((time.perf_counter() - began) * 1e3)
        return times

    def find_times(self, queries, most, uid=None):
        """Milliseconds of the first `most` items for each query, of another user where one is named: every one must
        have as many. On a busy machine a page ends by its time."""
        times = []
        with self.connect(uid) as connection:
            for query in queries:
                began = time.perf_counter()
                reply = self.ask(connection, "Find", {"query": query})
                count = len(reply["items"])
                while count < most and "next" in reply:
                    reply = self.ask(connection, "Find", {"query": query, "after": reply["next"]})
                    count += len(reply["items"])
                times.append((time.perf_counter() - began) * 1e3)
                if count != most:
                    raise RuntimeError(f"{query}: {count} items, not {most}")
        return times

    def warm(self):
        """Has the system read the file into memory.

        It reads the rest at the disk's pace: that would be the disk's figure, and which part of a file stays in memory
        is up to whatever else ran before.
        """
        with open(self.store, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass

    def get_load(self, among=None):
        """Gets of names drawn at random among the first items, or all, one after the other."""
        name = {"name": "home-#####/device-##"}
        frame = json.dumps({"method": "io.vaultd.Vault.Get", "parameters": name}, separators=(",", ":"))
        return measure("load", self.socket, 1, SECONDS, frame, (among or self.count) // FOLDER, FOLDER)

    def integrity(self):
        with self.connect() as connection:
            return self.ask(connection, "Status", {})["integrity"]

    def await_check(self):
        """Waits for the end of the check that is under way, and returns its outcome."""
        while (state := self.integrity()["state"]) == "checking":
            time.sleep(0.02)
        return state

    def restart(self):
        self.stop()
        self.open()


class Rows:
    """SQLite's own durable inserts of one row, about as large as an item's records."""

    def __init__(self, folder):
        self.connection = sqlite3.connect(os.path.join(folder, "rows.db"), isolation_level=None)
        for statement in SQLITE_DURABLE.split(";"):
            self.connection.execute(statement)
        self.connection.execute("CREATE TABLE rows(id INTEGER PRIMARY KEY, record BLOB NOT NULL)")

    def add(self, count):
        """Milliseconds of each."""
        times = []
        for _ in range(count):
            began = time.perf_counter()
            self.connection.execute("INSERT INTO rows(record) VALUES (?)", (os.urandom(400),))
            times.append((time.perf_counter() - began) * 1e3)
        return times


def writing(few, small, large, folder):
    print("\nstoring items (ms each)")
    rows = Rows(folder)
    large.add_singly(range(0, 10))
    tenth = statistics.median(large.add_singly(range(10, 10 + SINGLES)))
    at = 10 + SINGLES
    pairs = []
    for _ in range(ROUNDS):
        ours = statistics.median(large.add_singly(range(at, at + SINGLES)))
        at += SINGLES
        pairs.append((statistics.median(rows.add(SINGLES)), ours))
    value, theirs, ours = ratio(pairs)
    line("one durable set", ours, unit="ms")
    line("SQLite, one durable insert of a row", theirs, unit="ms")
    line("rate of single sets to SQLite's inserts", value, ">= 0.5", value >= 0.5, "x")
    large.add(range(at, 10_000 - SINGLES))
    late = statistics.median(large.add_singly(range(10_000 - SINGLES, 10_000)))
    line("the 10,000th set to the 10th", late / tenth, "<= 1.5", late / tenth <= 1.5, "x")
    few.add(range(few.count))
    at = batches(large, 10_000, folder)
    middle = min(MIDDLE, ITEMS)
    elapsed = large.add(range(at, middle))
    # The few are in the daemon's own cache at once. So many come there only as they are asked for.
    for _ in range(MIDDLE // 10_000):
        large.get_load(middle)
    pairs = [(large.get_load(middle)["p50_us"], few.get_load()["p50_us"]) for _ in range(ROUNDS)]
    elapsed += large.add(range(middle, ITEMS))
    line(f"all the others up to {ITEMS:,}, each", elapsed / (ITEMS - at) * 1e3, unit="ms")
    to_few(pairs, middle, 1.2)
    # There the cost of each transaction, and of the keys and hashes that SQLite has not, weighs the most.
    small.add(range(FEW))
    batches(small, FEW, folder, goal=None)
    small.stop()


def to_few(pairs, count, goal):
    """The time of a get by name in a store of `count` items, to the same with few."""
    value, ours, theirs = ratio(pairs)
    line(f"get by name, {count:,} items", ours, unit="us")
    line(f"get by name, {FEW:,} items", theirs, unit="us")
    line(f"{count:,} items to {FEW:,}", value, f"<= {goal}", value <= goal, "x")


def batches(store, at, folder, goal=0.4):
    """Items stored in batches to a store of `at` others, beside their rows written by SQLite alone in one transaction
    to a copy of the same store; the next item's number."""
    first, pairs, copy = at, [], os.path.join(folder, "copy.db")
    for _ in range(ROUNDS):
        # Another program reads a file that no daemon holds.
        store.stop()
        shutil.copyfile(store.store, copy)
        store.open()
        store.unlock()
        store.await_check()
        ours = store.add(range(at, at + MANY), -(-MANY // CALLS))
        at += MANY
        store.stop()
        pairs.append((measure("rows", store.store, copy, MANY)["seconds"], ours))
        store.open()
        store.unlock()
        for name in glob.glob(copy + "*"):
            os.unlink(name)
    value, theirs, ours = ratio(pairs)
    before = f", {first:,} before"
    line(f"a set within a batch of {MANY:,}{before}", ours / MANY * 1e3, unit="ms")
    line(f"SQLite from C, their rows in one transaction{before}", theirs / MANY * 1e3, unit="ms")
    verdict = (f">= {goal}", value >= goal) if goal else ()
    line(f"rows a second in a batch to SQLite's{before}", value, *verdict, unit="x")
    return at


def unlocking(large, keyring):
    print("\nunlocking, without Argon2id (ms)")
    times = [large.unlock() * 1e3 for _ in range(ROUNDS)]
    median = statistics.median(times)
    line(f"unlock with a recovery code, {ITEMS:,} items", median, "< 200", median < 200, "ms", most=max(times))
    line(f"gnome-keyring, {KEYRING_ITEMS:,} items", statistics.median(keyring.unlock_times(ROUNDS)), unit="ms")


def checking(large):
    """The check after the first unlock: alone, and with gets beside it."""
    print("\nthe check of all records after the first unlock")
    large.restart()
    began = time.perf_counter()
    large.unlock()
    records = large.integrity()["of"]
    state = large.await_check()
    elapsed = time.perf_counter() - began
    if state != "ok":
        raise RuntimeError(f"the check of a good store ends with {state}")
    line(f"records a second, {records:,} records", records / elapsed, ">= 200000", records / elapsed >= 200_000)

    pairs, rates = [], []
    for _ in range(ROUNDS):
        large.await_check()
        large.warm()
        alone = large.get_load()
        large.restart()
        large.warm()
        large.unlock()
        before, began = large.integrity(), time.perf_counter()
        beside = large.get_load()
        after, elapsed = large.integrity(), time.perf_counter() - began
        if after["state"] != "checking":
            print("  the check was over before the gets were: more BENCH_ITEMS or less BENCH_SECONDS")
        else:
            rates.append((after["done"] - before["done"]) / elapsed)
        pairs.append((beside["p99_us"], alone["p99_us"]))
    large.await_check()
    value, beside, alone = ratio(pairs)
    if rates:
        line("records a second with gets beside it", statistics.median(rates))
    line("p99 of gets beside the check", beside, unit="us")
    line("p99 of gets alone", alone, unit="us")
    line("the one to the other", value, "<= 5", value <= 5, "x")


def reading(few, large):
    print("\nreading (us, ms)")
    pairs = []
    for _ in range(ROUNDS):
        large.warm()
        pairs.append((large.get_load()["p50_us"], few.get_load()["p50_us"]))
    to_few(pairs, ITEMS, 1.2 if ITEMS <= MIDDLE else 1.5)
    draw = random.Random(4)
    folders = [f"name~home-{draw.randrange(ITEMS // FOLDER):05}/**" for _ in range(SINGLES)]
    batches = [f"batch={draw.randrange(ITEMS // MATCHES):06}" for _ in range(SINGLES)]
    for title, queries, count, limit in (
        (f"find by one attribute, {MATCHES} matches", batches, MATCHES, 5),
        (f"list of one folder, {FOLDER} items", folders, FOLDER, 5),
        ("first page of a list of everything", [""] * SINGLES, 100, 50),
    ):
        times = large.find_times(queries, count)
        median = statistics.median(times)
        line(title, median, f"< {limit}", median < limit, "ms", most=max(times))


def granted(large):
    """Measures the searches of a user who was granted 20 items of so many."""
    if os.geteuid() != 0:
        return print("\nsearches of a granted user: skipped, it takes root to be one")
    print(f"\nsearches of users who were granted {FOLDER} of {ITEMS:,} items (ms)")
    large.converse("Authenticate", {"interactive": True})
    # Items of as many folders; and one folder.
    apart = [item(i * (ITEMS // FOLDER), ITEMS)["name"] for i in range(FOLDER)]
    with large.connect() as connection:
        for uid, patterns in ((SERVICE, apart), (SERVICE + 1, ["home-00042/*"])):
            for items in patterns:
                large.ask(connection, "Grant", {"subject": f"user:{uid}", "items": items, "rights": ["find"]})
    large.be_reachable()
    for title, uid in ((f"find of {FOLDER} items with a grant each", SERVICE),
                       ("find of those of one folder", SERVICE + 1)):
        times = large.find_times([""] * SINGLES, FOLDER, uid)
        median = statistics.median(times)
        line(title, median, "< 2", median < 2, "ms", most=max(times))
    large.be_private()


def sizes(few, large):
    print(f"\nsizes, {ITEMS:,} items")
    resident, small = large.resident_bytes() / 1e6, few.resident_bytes() / 1e6
    line("resident memory", resident, "< 150", resident < 150, "MB")
    line(f"more than with {FEW:,}: the database's cache and its log's index", resident - small, unit="MB")
    large.stop()
    stored = os.path.getsize(large.store) / ITEMS
    plain = statistics.mean(plaintext_bytes(item(i, ITEMS)) for i in range(0, ITEMS, max(1, ITEMS // 1000)))
    line("bytes in the store for each item", stored, unit="B")
    line("bytes of its name, attributes and value", plain, unit="B")
    large.open()
    large.unlock()


def copying(sandbox, large):
    print("\nbackup and restore (s)")
    folder = sandbox.folder("copies")
    ours, theirs, copy = (os.path.join(folder, name) for name in ("vault.backup", "sqlite.db", "copy.db"))
    vault = [os.path.join(BIN, "vault")]
    # sqlite3 needs a file that no daemon holds.
    large.stop()
    shutil.copyfile(large.store, copy)
    large.open()
    large.unlock()
    first = timed([*vault, "backup", ours], env=large.environment)
    os.unlink(ours)
    line("vault backup right after the first unlock, which waits for the check of all records", first, unit="s")
    large.await_check()
    backups, restores = [], []
    for turn in range(max(3, ROUNDS // 2)):
        yardstick = timed(["sqlite3", copy, f".backup {theirs}"])
        backup = timed([*vault, "backup", ours], env=large.environment)
        target = sandbox.adopt(Vault(BIN, sandbox.folder(f"restored-{turn}")))
        restore = timed([*vault, "restore", "--password-stdin", ours], env=target.environment, input=PASSWORD.encode())
        target.stop()
        if os.path.getsize(target.store) < 0.9 * os.path.getsize(copy):
            raise RuntimeError("the restored store is smaller than what it was made from")
        shutil.rmtree(os.path.dirname(target.store))
        backups.append((yardstick, backup))
        restores.append((yardstick, restore))
        for path in (ours, theirs):
            os.unlink(path)
    line(f"sqlite3 .backup, {os.path.getsize(copy) / 1e6:,.0f} MB", ratio(backups)[1], unit="s")
    for title, pairs in (("vault backup", backups), ("vault restore", restores)):
        value, _, seconds = ratio(pairs)
        line(title, seconds, unit="s")
        line(f"speed of {title} to .backup", value, ">= 0.5", value >= 0.5, "x")


def timed(command, **options):
    """Seconds of a whole process."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **options)
    return time.perf_counter() - began


def beside_others(sandbox, few):
    print(f"\none secret out of {FEW:,} as a whole process (ms)")
    keyring = sandbox.adopt(Keyring(sandbox.folder("keyring"), FEW))
    store = sandbox.adopt(Pass(sandbox.folder("pass"), FEW))
    keepass = sandbox.adopt(KeePassXC(sandbox.folder("keepass"), FEW))
    commands = {
        "vault get": ([os.path.join(BIN, "vault"), "get", item(42, FEW)["name"]], few.environment),
        "secret-tool lookup": (["secret-tool", "lookup", "name", keyring.item], keyring.environment),
        "pass show, key without a passphrase": (store.command(protected=False), store.environment),
        "pass show, key with a passphrase": (store.command(protected=True), store.environment),
        "keepassxc-cli show": (keepass.command, keepass.environment),
    }
    times = {title: [] for title in commands}
    for _ in range(3 * ROUNDS):
        for title, (command, environment) in commands.items():
            times[title].append(timed(command, env=environment) * 1e3)
    ours = statistics.median(times["vault get"])
    for title, list in times.items():
        median = statistics.median(list)
        line(title, median, unit="ms", to_vault=median / ours)


def run(sandbox):
    few = sandbox.adopt(Store(sandbox.folder("few"), FEW))
    small = sandbox.adopt(Store(sandbox.folder("small"), FEW))
    large = sandbox.adopt(Store(sandbox.folder("large"), ITEMS))
    for each in (few, small, large):
        each.make()
    writing(few, small, large, sandbox.folder("rows"))
    reading(few, large)
    granted(large)
    keyring = sandbox.adopt(LargeKeyring(sandbox.folder("large-keyring"), KEYRING_ITEMS))
    unlocking(large, keyring)
    keyring.stop()
    checking(large)
    sizes(few, large)
    beside_others(sandbox, few)
    copying(sandbox, large)
