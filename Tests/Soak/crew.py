"""crew.py SOCKET UID HIDDEN: the clients of one user, who keep an account of what was acknowledged.

The file HIDDEN has an odd number of bytes while a search may leave out what is there: before the first unlock of a
daemon, and while the user's grants are revoked.

Each line of standard input is an order: `work` has them go on, `rest` has them close their connections, answered by
`resting`, and `end` prints what each knows of its items, as one line of JSON."""
import json, os, random, socket, sys, threading, time

PATH, UID, HIDDEN = sys.argv[1], int(sys.argv[2]), sys.argv[3]
CLIENTS, WATCHERS, ITEMS = 16, 3, 12
os.setgroups([])
os.setresgid(UID, UID, UID)
os.setresuid(UID, UID, UID)
working = threading.Event()
resting = threading.Semaphore(0)
# The errors that the daemon may answer with while it is locked, meets a full disk, or is told to revoke.
PASSING = {"Locked", "StorageFailed", "Denied", "Busy", "RateLimited"}


class Client:
    """One that reads and writes items of its own, or watches."""

    def __init__(self, number):
        self.number, self.connection, self.rest = number, None, b""
        self.draw = random.Random(UID * 100 + number)
        # For each name: the value that was acknowledged last or seen since, and those of sets without an answer.
        self.known = {}
        self.counts = {"get": 0, "set": 0, "find": 0, "events": 0, "unanswered": 0}
        self.sets = 0
        self.refused = {}

    def drop(self):
        if self.connection:
            self.connection.close()
        self.connection, self.rest = None, b""

    def answer(self):
        while b"\0" not in self.rest:
            part = self.connection.recv(1 << 16)
            if not part:
                raise ConnectionResetError
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, more=False, **parameters):
        """The answer; None where the daemon went away before it came."""
        message = {"method": "io.vaultd.Vault." + method, "parameters": parameters, "more": more}
        try:
            if not self.connection:
                self.connection = socket.socket(socket.AF_UNIX)
                self.connection.settimeout(120)
                self.connection.connect(PATH)
            self.connection.sendall(json.dumps(message).encode() + b"\0")
            reply = self.answer()
        except (ConnectionError, FileNotFoundError):
            self.drop()
            self.counts["unanswered"] += 1
            time.sleep(0.01)
            return None
        if "error" in reply:
            error = reply["error"].split(".")[-1]
            self.refused[error] = self.refused.get(error, 0) + 1
            # The place of a page is none any more after a rekey, and where a revoked grant led to it.
            isOldPlace = error == "InvalidParameter" and parameters.get("after")
            if error not in PASSING and error != "NoSuchItem" and not isOldPlace:
                raise RuntimeError(f"{method}: {reply}")
        return reply

    def set(self):
        name = f"soak/{UID}/{self.number}/{self.draw.randrange(ITEMS)}"
        value = f"{self.sets}:{self.draw.getrandbits(64):x}" + "v" * self.draw.choice((0, 40, 400, 4000))
        known = self.known.setdefault(name, [None, []])
        self.sets += 1
        reply = self.call("Set", name=name, value=value, update=True)
        if reply is None:
            known[1].append(value)
        elif "error" not in reply:
            self.counts["set"] += 1
            known[:] = value, []

    def get(self):
        if not self.known:
            return
        name = self.draw.choice(sorted(self.known))
        reply = self.call("Get", name=name)
        if reply is None:
            return
        self.counts["get"] += 1
        if "error" not in reply:
            self.see(name, reply["parameters"]["value"])
        elif reply["error"].endswith("NoSuchItem"):
            self.see(name, None)

    def see(self, name, value):
        acknowledged, open_ones = self.known[name]
        if value != acknowledged and value not in open_ones:
            raise RuntimeError(f"{name}: {str(value)[:40]} is there, not {str(acknowledged)[:40]}")
        # The sets that a daemon was ended in have come to be or not: that is settled with the daemon's end.
        self.known[name] = [value, []]

    def find(self):
        found, after, before = set(), None, os.stat(HIDDEN).st_size
        while True:
            # A page ends when its time is up, too.
            reply = self.call("Find", query=f"name~soak/{UID}/{self.number}/*", **({"after": after} if after else {}))
            if reply is None or "error" in reply:
                return
            found |= {item["name"] for item in reply["parameters"]["items"]}
            after = reply["parameters"].get("next")
            if not after:
                break
        self.counts["find"] += 1
        missing = {name for name, known in self.known.items() if known[0]} - found
        if missing and before % 2 == 0 and os.stat(HIDDEN).st_size == before:
            raise RuntimeError(f"find does not find {missing}")

    def watch(self):
        """Takes what is told for a while; its own user's items alone are."""
        reply = self.call("Monitor", more=True)
        until = time.monotonic() + self.draw.uniform(0.5, 5)
        if self.connection:
            self.connection.settimeout(0.2)
        while reply and working.is_set() and time.monotonic() < until:
            if "error" in reply:
                break
            name = reply["parameters"].get("name")
            if name and not name.startswith(f"soak/{UID}/"):
                raise RuntimeError(f"an event of {name}")
            self.counts["events"] += 1
            reply = self.next_event(until)
        self.drop()

    def next_event(self, until):
        while working.is_set() and time.monotonic() < until:
            try:
                return self.answer()
            except TimeoutError:
                pass
            except ConnectionError:
                break
        return None

    def run(self):
        while True:
            if not working.is_set():
                self.drop()
                resting.release()
                working.wait()
            if self.number < WATCHERS:
                self.watch()
                time.sleep(0.05)
            else:
                self.draw.choices((self.get, self.set, self.find), (6, 3, 1))[0]()
                time.sleep(self.draw.uniform(0, 0.03))


def guarded(client):
    try:
        client.run()
    except BaseException as error:
        print(json.dumps({"failed": f"{UID}/{client.number}: {error!r}"}), flush=True)
        os._exit(1)


clients = [Client(number) for number in range(CLIENTS)]
for client in clients:
    threading.Thread(target=guarded, args=(client,), daemon=True).start()
for order in sys.stdin:
    if order == "work\n":
        working.set()
    elif order == "rest\n":
        working.clear()
        # A wait that is over already was counted before the last `work`.
        for _ in clients:
            resting.acquire()
        print("resting", flush=True)
    else:
        known = {name: value for client in clients for name, value in client.known.items()}
        totals = {}
        for client in clients:
            for key, count in [*client.counts.items(), *client.refused.items()]:
                totals[key] = totals.get(key, 0) + count
        print(json.dumps({"known": known, "counts": totals}), flush=True)
        break
