"""The Secret Service: vault beside gnome-keyring with an encrypted keyring, each on a private bus of its own."""

import json, os, re, signal, statistics, subprocess, sys, time
from report import BIN, IDLE_SECONDS, PROGRAMS, ROUNDS, SECONDS, TRIES, line, measure, ratio
from world import SECRETS, Desktop, LargeKeyring, MessageBus, Vault, await_name, call_bus, voluntary_switches

SIZES = (10, 50) if TRIES else (10, 1_000, 10_000)
FEW, MANY = SIZES[0], SIZES[-1]
COLLECTIONS = "/org/freedesktop/secrets/collection/"
AT_REST = 100
# The items are like those of git's helper for libsecret: most programs give a schema and two or three attributes.
SCHEMA = "org.gnome.keyring.NetworkPassword"


class Service(Vault):
    """A vault that serves the desktop on a bus of its own."""

    collection = COLLECTIONS + "login"

    def __init__(self, folder):
        super().__init__(BIN, folder, "secret-service = on\n")
        self.bus = MessageBus(folder, "bus")

    def open(self):
        self.bus.open()
        super().open()
        await_name(self.environment)

    def stop(self):
        super().stop()
        self.bus.stop()

    def fill_from_the_desktop(self, count):
        self.fill(0)
        subprocess.run([os.path.join(PROGRAMS, "secrets"), "fill", self.collection, str(count)], env=self.environment,
                       check=True)


class Yardstick(LargeKeyring):
    collection = COLLECTIONS + "bench"

    def attributes_of(self, number):
        return {"xdg:schema": SCHEMA, "user": "ana", "server": f"git-{number}.example", "protocol": "https"}

    def open(self):
        super().open()
        self.unlock_times(1)


class Both:
    """Two services with as many items, which are asked in turns."""

    def __init__(self, sandbox, count):
        self.count = count
        self.ours = sandbox.adopt(Service(sandbox.folder(f"ours-{count}")))
        self.ours.fill_from_the_desktop(count)
        self.theirs = sandbox.adopt(Yardstick(sandbox.folder(f"theirs-{count}"), count))

    def stop(self):
        self.ours.stop()
        self.theirs.stop()

    def in_turns(self, ask):
        return [(ask(self.ours), ask(self.theirs)) for _ in range(ROUNDS)]

    def judge(self, what, pairs, unit, few=None, many=None, least=None):
        """Prints a figure and its ratio, which must be at most `few` or `many` for these numbers of items, or at least
        `least` for all."""
        value, ours, theirs = ratio(pairs)
        line(f"vault, {what}, {self.count:,} items", ours, unit=unit)
        line(f"gnome-keyring, {what}, {self.count:,} items", theirs, unit=unit)
        most = {FEW: few, MANY: many}.get(self.count)
        verdict = ()
        if least:
            verdict = f">= {least:g}", value >= least
        elif most:
            verdict = f"<= {most:g}", value <= most
        line(f"ratio, {what}, {self.count:,} items", value, *verdict, unit="x")


def secret_tool(both):
    words = "secret-tool", "lookup", "server", "git-7.example", "user", "ana"
    commands = []
    for service in both.ours, both.theirs:
        said = subprocess.run(words, env=service.environment, check=True, stdout=subprocess.PIPE).stdout
        if said != f"{7:064}".encode():
            sys.exit(f"bench: secret-tool says {said}")
        commands.append(["DBUS_SESSION_BUS_ADDRESS=" + service.environment["DBUS_SESSION_BUS_ADDRESS"], *words])
    pairs = []
    for _ in range(ROUNDS):
        ours, theirs = measure("processes", 20, *commands[0], "vs", *commands[1], env=both.ours.environment)
        pairs.append((ours["median"], theirs["median"]))
    both.judge("secret-tool lookup", pairs, "ms", few=1.0, many=0.75)


def calls(both, what, title, **goals):
    def ask(service):
        word = service.collection if what == "pairs" else both.count
        return measure("secrets", what, SECONDS, word, env=service.environment)["median"]
    both.judge(title, both.in_turns(ask), "ms", **goals)


def storage(both):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "secretstorage_gets.py")

    def ask(service):
        # Debian's own Python, for which Debian's modules are made.
        command = ["/usr/bin/python3", "-B", script, str(SECONDS), str(both.count), service.collection]
        said = subprocess.run(command, env=service.environment, check=True, stdout=subprocess.PIPE).stdout
        return json.loads(said)["total"]
    both.judge("SecretStorage", both.in_turns(ask), "1/s", least=2)


def at_rest(sandbox):
    print(f"\na daemon at rest that serves the desktop, unlocked, {AT_REST} items")
    daemons = []
    for name in "off", "on":
        folder = sandbox.folder(name)
        desktop = sandbox.adopt(Desktop(folder))
        daemons.append(sandbox.adopt(Vault(BIN, folder, f"secret-service = {name}\n")))
        desktop.await_inhibitor()
        daemons[-1].fill(AT_REST)
    off, on = daemons
    await_name(on.environment)
    time.sleep(1)
    more = (on.resident_bytes() - off.resident_bytes()) / 1e6
    line("resident memory without the service", off.resident_bytes() / 1e6, unit="MB")
    line("more with it", more, "<= 1", more <= 1, "MB")
    before, began = voluntary_switches(on.pid), time.monotonic()
    time.sleep(IDLE_SECONDS)
    wakes = voluntary_switches(on.pid) - before
    line(f"wake-ups in {time.monotonic() - began:.0f} s", wakes, "= 0", wakes == 0)


def activation(sandbox):
    """A bus that starts the daemon for a program's first call, which needs no unlock."""
    print(f"\na daemon that the bus starts, {AT_REST} items")
    folder = sandbox.folder("started")
    vault = Vault(BIN, folder, "secret-service = on\n")
    sandbox.adopt(MessageBus(folder, "bus", vault))
    sandbox.adopt(vault).fill(AT_REST)
    vault.stop()
    command = ["dbus-send", "--session", "--print-reply", f"--dest={SECRETS}", "/org/freedesktop/secrets",
               "org.freedesktop.Secret.Service.ReadAlias", "string:default"]
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        said = subprocess.run(command, env=vault.environment, check=True, stdout=subprocess.PIPE).stdout
        times.append((time.perf_counter() - began) * 1000)
        pid = int(re.search(rb"uint32 (\d+)", call_bus(vault.environment, "GetConnectionUnixProcessID", SECRETS))[1])
        os.kill(pid, signal.SIGTERM)
        while os.path.exists(f"/proc/{pid}"):
            time.sleep(0.01)
        if Service.collection.encode() not in said:
            sys.exit(f"bench: ReadAlias says {said}")
    took = statistics.median(times)
    line("the first call, with the start of the daemon", took, "<= 1000", took <= 1000, "ms")


def run(sandbox):
    at_rest(sandbox)
    activation(sandbox)
    print("\nthe Secret Service, beside gnome-keyring")
    for count in SIZES:
        both = Both(sandbox, count)
        secret_tool(both)
        calls(both, "lookup", "libsecret lookup", few=1.0, many=0.1)
        storage(both)
        calls(both, "search", "SearchItems with one hit", many=0.1)
        calls(both, "pairs", "create and delete", many=0.01)
        both.judge("resident memory", [(both.ours.resident_bytes() / 1e6, both.theirs.resident_bytes() / 1e6)], "MB",
                   many=1.0)
        both.stop()
