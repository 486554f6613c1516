"""No uid starves another: many connections of several uids, and what one uid's processes cost those of another.

Each gets an item that was granted to it. It takes root to be them. Who asks beside others does so with the server on
one processor and all clients on the other, and who asks at its time is run before them: what is told is who gets a
server's time, and not whom the kernel runs when. It is the same with both servers."""

import json, os, statistics, subprocess
from granting import ITEM, Machine, frame
from report import PROGRAMS, ROUNDS, SECONDS, line, measure, pinned
from world import Server

HELD, HOLDERS = 10_000, (5001, 5002, 5003, 5004)
ATTACKER, OTHER = 5001, 5002
FRAME = frame("Get", name=ITEM)
SETTINGS = "max-connections = 32768\n"
# The processors of the servers and of all clients, beside others.
SERVERS, CLIENTS = 0, os.cpu_count() - 1
CROWDS = (("a client that never reads", "unread", 1), ("200 that never read", "unread", 200),
          ("one that sends a byte a second", "trickle", 1), ("1,000 that connect and vanish", "vanish", 1000),
          ("200 that ask without pause", "ask", 200), ("200 that do not wait for answers", "flood", 200))


class Crowd:
    """Connections of another uid, while `with` lasts."""

    def __init__(self, socket, uid, role, count, frame=FRAME, cpu=None):
        self.command = pinned(cpu) + [os.path.join(PROGRAMS, "crowd"), socket, str(uid), role, str(count), frame]
        self.closed = 0

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.process.stdout.readline() != b"ready\n":
            raise RuntimeError("a crowd did not come")
        return self

    def __exit__(self, *_):
        self.closed = int(self.process.communicate()[0] or 0)
        if self.process.returncode:
            raise RuntimeError("a crowd failed")


class Fair(Server):
    """A server in C that shares its time fairly among uids."""

    def __init__(self, folder, reply_bytes, microseconds=0):
        self.socket = os.path.join(folder, "fair")
        self.command = [os.path.join(PROGRAMS, "fair"), self.socket, str(reply_bytes), str(microseconds)]

    def open(self):
        self.start(self.command, stdout=subprocess.PIPE)
        self.process.stdout.readline()
        os.chmod(self.socket, 0o666)


def pace(server, uid, rate, frame=FRAME, seconds=SECONDS, cpu=None, first=False):
    return measure("pace", server.socket, uid, rate, seconds, frame, cpu=cpu, first=first)


def descriptors(vault):
    return len(os.listdir(f"/proc/{vault.pid}/fd"))


def holding(vault):
    print(f"\n{HELD:,} connections of {len(HOLDERS)} uids, each of which has asked once")
    # Memory that is there once and for all belongs to no connection.
    with Crowd(vault.socket, HOLDERS[0], "hold", 100):
        pass
    resident, open_files = vault.resident_bytes(), descriptors(vault)
    crowds = [Crowd(vault.socket, uid, "hold", HELD // len(HOLDERS)) for uid in HOLDERS]
    for crowd in crowds:
        crowd.__enter__()
    memory, files = (vault.resident_bytes() - resident) / HELD, (descriptors(vault) - open_files) / HELD
    calm = pace(vault, OTHER, 1000)
    for crowd in crowds:
        crowd.__exit__()
    closed = sum(crowd.closed for crowd in crowds)
    line("connections that the daemon closed", closed, "= 0", closed == 0)
    line("resident memory for each", memory / 1024, "< 8", memory < 8192, "KiB")
    line("descriptors for each", files, "<= 1", files <= 1.01)
    line("one of them asks 1,000 times a second: p99", calm["p99_us"], unit="us", median=calm["p50_us"])


def together(vault):
    print("\n64 clients of 4 uids at full speed while one writes")
    for crowd in (crowds := [Crowd(vault.socket, uid, "ask", 15) for uid in HOLDERS]):
        crowd.__enter__()
    item = frame("Set", name="bench/written", value="v" * 64, update=True)
    results = []
    for _ in range(ROUNDS):
        writer = subprocess.Popen([os.path.join(PROGRAMS, "pace"), vault.socket, "0", "0", str(SECONDS), item],
                                  stdout=subprocess.PIPE)
        askers = [subprocess.Popen([os.path.join(PROGRAMS, "pace"), vault.socket, str(uid), "0", str(SECONDS), FRAME],
                                   stdout=subprocess.PIPE) for uid in HOLDERS]
        results += [json.loads(asker.communicate()[0]) for asker in askers]
        sets = json.loads(writer.communicate()[0])
    for crowd in crowds:
        crowd.__exit__()
    closed = sum(crowd.closed for crowd in crowds)
    line("errors, and connections that were closed", closed, "= 0", closed == 0)
    judge("an answer", results)
    line("sets in a second meanwhile", sets["rate"], unit="1/s")


def judge(title, results):
    """The 99th percentile beside the median, of the round where they are farthest apart."""
    worst = max(results, key=lambda result: result["p99_us"] / result["p50_us"])
    ratio = worst["p99_us"] / worst["p50_us"]
    line(f"{title}: p99", worst["p99_us"], unit="us", p50=worst["p50_us"])
    line(f"{title}: p99 to the median", ratio, "<= 10", ratio <= 10, "x")


def beside(vault, fair):
    for server in (vault, fair):
        server.pin({SERVERS})

    def asked_of(server, rate):
        return pace(server, OTHER, rate, cpu=CLIENTS, first=rate > 0)

    for title, role, count in CROWDS:
        print(f"\nbeside {title}, of another uid")
        calm = [asked_of(vault, 1000) for _ in range(ROUNDS)]
        alone, alone_fair, crowded, crowded_fair, paced, paced_fair = [], [], [], [], [], []
        for _ in range(ROUNDS):
            alone.append(asked_of(vault, 0)["rate"])
            alone_fair.append(asked_of(fair, 0)["rate"])
            with Crowd(vault.socket, ATTACKER, role, count, cpu=CLIENTS):
                paced.append(asked_of(vault, 1000))
                crowded.append(asked_of(vault, 0)["rate"])
            # A server without a protocol is no yardstick for half a frame, nor for an answer that nobody reads.
            with Crowd(fair.socket, ATTACKER, role if role in ("ask", "vanish") else "ask", count, cpu=CLIENTS):
                paced_fair.append(asked_of(fair, 1000))
                crowded_fair.append(asked_of(fair, 0)["rate"])
        asked, answered = (sum(one[key] for one in paced) for key in ("asked", "answered"))
        line("1,000 a second: lost", asked - answered, "= 0", asked == answered)
        line("1,000 a second: median", statistics.median(one["p50_us"] for one in paced), unit="us",
             calm=statistics.median(one["p50_us"] for one in calm))
        judge("1,000 a second", paced)
        fair_worst = max(one["p99_us"] for one in paced_fair)
        line("1,000 a second of the fair C server: p99", fair_worst, unit="us")
        if role == "vanish":
            value = max(one["p99_us"] for one in paced) / fair_worst
            line("p99 to the fair C server's", value, "<= 1", value <= 1, "x")
        ours = statistics.median(a / b for a, b in zip(crowded, alone))
        theirs = statistics.median(a / b for a, b in zip(crowded_fair, alone_fair))
        line("without pause: share of its rate that is left", ours)
        line("the same with the fair C server", theirs)
        line("ratio", ours / theirs, ">= 0.8", ours >= 0.8 * theirs, "x")


def yardstick(sandbox, vault, reply_bytes):
    """The C server that works on a request for as long as vaultd takes more for one than it."""
    idle = sandbox.adopt(Fair(sandbox.folder("idle"), reply_bytes))
    os.chmod(os.path.dirname(idle.socket), 0o711)
    pairs = [(pace(vault, OTHER, 0)["rate"], pace(idle, OTHER, 0)["rate"]) for _ in range(ROUNDS)]
    idle.stop()
    cost = max(0, statistics.median(1e6 / ours - 1e6 / theirs for ours, theirs in pairs))
    print("\nthe fair C server")
    line("works on a request for", cost, unit="us")
    return Fair(sandbox.root, reply_bytes, cost)


def run(sandbox):
    if os.geteuid() != 0:
        return print("\nno uid starves another: skipped, it takes root to be several users")
    vault = sandbox.adopt(Machine(sandbox.folder("sharing"), SETTINGS))
    vault.make([(f"user:{uid}", "bench/*") for uid in HOLDERS])
    with vault.connect() as connection:
        connection.sendall(FRAME.encode() + b"\0")
        reply_bytes = len(connection.recv(65536))
    fair = sandbox.adopt(yardstick(sandbox, vault, reply_bytes))
    holding(vault)
    together(vault)
    beside(vault, fair)
    vault.stop()
