#!/usr/bin/env python3
"""bench.py BIN PROGRAMS RESULT [AGAINST]: the figures vault must reach, each beside its yardstick in the same run; the
part `against` sets them beside those of the programs in AGAINST, which are another revision's.

Everything runs in a folder of its own, on a private bus, and is ended by process id. Ratios are medians of rounds that
take turns (A B A B …), so that a busy moment falls on both. BENCH_STRICT=1 makes a missed goal an error; BENCH_TRY=1
runs everything once and shortly, and prints no figure; BENCH_PARTS names some of PARTS, with commas; BENCH_ITEMS is how
many items a large store has."""

import json, os, statistics, subprocess, sys, time
import against, asking, auditing, chart, clients, computing, deposits, doors, fairness, granting, holding, importing
import latency, methods, rekeying, secretservice, sharing, signing, store
from report import BIN, IDLE_SECONDS, PROGRAMS, RESULT, ROUNDS, SECONDS, TRIES, conclude, line, measure, ratio
from world import Desktop, Keyring, PresentUser, Sandbox, Vault, voluntary_switches

ITEM, ITEMS, KEYRING_ITEMS = "bench/item-042", 100, 1000


def round_trips(vault, echo, frame):
    print("\nround trips on one connection, a get of a 64-byte item (1/s)")
    for title, cpu, goal in (("unpinned", None, 0.7), ("both sides on one CPU", 0, 0.7)):
        cpus = {cpu} if cpu is not None else os.sched_getaffinity(0)
        for server in (vault, echo):
            server.pin(cpus)
        pairs = []
        for _ in range(ROUNDS):
            ours = measure("load", vault.socket, 1, SECONDS, frame, cpu=cpu)
            theirs = measure("load", echo.socket, 1, SECONDS, frame, cpu=cpu)
            pairs.append((ours["total"], theirs["total"]))
        value, ours, theirs = ratio(pairs)
        line(f"vaultd, {title}", ours)
        line(f"C epoll echo, {title}", theirs)
        line(f"ratio, {title}", value, f">= {goal}", value >= goal, "x")


def many_connections(vault, frame):
    print("\n64 connections at once (1/s)")
    vault.pin(os.sched_getaffinity(0))
    pairs, spread = [], []
    for _ in range(ROUNDS):
        many = measure("load", vault.socket, 64, SECONDS, frame)
        one = measure("load", vault.socket, 1, SECONDS, frame)
        pairs.append((many["total"], one["total"]))
        spread.append(many["median"] / many["worst"])
    value, many, one = ratio(pairs)
    line("vaultd, 64 connections in all", many)
    line("ratio to its own single connection", value, ">= 0.9", value >= 0.9, "x")
    worst = max(spread)
    line("median client to the worst, worst round", worst, "<= 3", worst <= 3, "x")


def whole_processes(vault, keyring):
    print("\none secret as a whole process (ms)")
    ours = [os.path.join(BIN, "vault"), "get", ITEM]
    least = [os.path.join(PROGRAMS, "get"), vault.socket, ITEM]
    theirs = ["secret-tool", "lookup", "name", keyring.item]
    environment = keyring.environment | {"VAULT_SOCKET": vault.socket}
    values = [subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout.strip()
              for command in (ours, least, theirs)]
    if values[0] != values[1] or values[2] != keyring.value:
        sys.exit(f"bench: the clients disagree about the value: {values}")
    # Each in pairs with ours alone: a large program between the two of a pair leaves the processor's caches to neither.
    def compare(other):
        pairs = []
        for _ in range(ROUNDS):
            mine, yardstick = measure("processes", 30, *ours, "vs", *other, env=environment)
            pairs.append((mine["median"], yardstick["median"]))
        return ratio(pairs)
    to_least, mine, least_time = compare(least)
    line("vault get", mine, unit="ms")
    line("least C client", least_time, unit="ms")
    line("vault get to the C client", to_least, "<= 1.6", to_least <= 1.6, "x")
    to_theirs, _, their_time = compare(theirs)
    line(f"secret-tool lookup, {KEYRING_ITEMS} items", their_time, unit="ms")
    line("secret-tool to vault get", 1 / to_theirs, ">= 4", 1 / to_theirs >= 4, "x")


def sleeping(vault, desktop):
    print("\nfrom logind's PrepareForSleep to the inhibitor's end, 64 connected clients (ms)")
    clients = [vault.connect() for _ in range(64)]
    times = []
    for _ in range(5 * ROUNDS):
        if vault.ask(clients[0], "Status", {})["state"] != "unlocked":
            vault.converse("Unlock", {"method": "password"})
        for client in clients:
            vault.ask(client, "Get", {"name": ITEM})
        times.append(desktop.sleep())
        state = vault.ask(clients[0], "Status", {})
        if (state["state"], state["cause"]) != ("locked", "the machine goes to sleep"):
            sys.exit(f"bench: the vault did not lock: {state}")
    for client in clients:
        client.close()
    median = statistics.median(times)
    line("keys gone and inhibitor released, median", median, "<= 1", median <= 1, "ms", least=min(times))
    line("the same, worst", max(times), unit="ms")


def presence(sandbox):
    print("\nfrom PAM's yes to the first value (ms): the helper ends, the key is fetched, the vault opens, "
          "a waiting get goes on")
    if not PresentUser.is_possible():
        return print("  skipped: a PAM service can be installed by root alone")
    user = sandbox.adopt(PresentUser(sandbox.folder("presence")))
    vault = sandbox.adopt(Vault(BIN, sandbox.folder("present"), f"pam-service = {user.name}\n"))
    vault.fill(ITEMS)
    vault.converse("AddSlot", {"kind": "pam", "keystore": "memory"})
    times = []
    with vault.connect() as waiting:
        for _ in range(5 * ROUNDS):
            vault.ask(waiting, "Lock", {})
            waiting.sendall(get_frame(wait=10_000))
            vault.converse("Unlock", {"method": "pam"})
            vault.answer(waiting)
            times.append((time.time_ns() - user.said_yes_at()) / 1e6)
    line("PAM's yes to the value, median", statistics.median(times), unit="ms", least=min(times), most=max(times))


def get_frame(wait):
    call = {"method": "io.vaultd.Vault.Get", "parameters": {"name": ITEM, "wait_ms": wait}}
    return json.dumps(call).encode() + b"\0"


def starting(vault):
    print("\ndaemon start to first answer (ms)")
    frame = '{"method":"io.vaultd.Vault.Status"}'
    result = measure("start", 10 * ROUNDS, os.geteuid(), vault.socket, frame, "ready", *vault.command,
                     env=vault.environment)
    line("start to Status, median", result["median"], "<= 15", result["median"] <= 15, "ms",
         least=result["min"], most=result["max"])


def requests(sandbox):
    """The daemon's answers, with few items."""
    folder = sandbox.folder("idle")
    desktop = sandbox.adopt(Desktop(folder))
    idle = sandbox.adopt(Vault(BIN, folder))
    desktop.await_inhibitor()
    vault = sandbox.adopt(Vault(BIN, sandbox.folder("vault")))
    for each in (idle, vault):
        each.fill(ITEMS)
    frame = json.dumps({"method": "io.vaultd.Vault.Get", "parameters": {"name": ITEM}}, separators=(",", ":"))
    probe = measure("load", vault.socket, 1, 0.05, frame)
    echo = sandbox.adopt_echo(PROGRAMS, probe["reply_bytes"])
    print(f"frames: {probe['request_bytes']} bytes there, {probe['reply_bytes']} bytes back")
    round_trips(vault, echo, frame)
    many_connections(vault, frame)

    print(f"\na daemon at rest, unlocked, {ITEMS} items, with logind and a screen locker on its buses")
    with idle.connect() as connection:
        heard = idle.ask(connection, "Status", {})["locks_on"]
    if heard != ["sleep", "session-lock", "org.gnome.ScreenSaver"]:
        sys.exit(f"bench: the daemon does not hear all: {heard}")
    # The end of that connection is no rest yet.
    time.sleep(1)
    resident = idle.resident_bytes()
    line("resident memory", resident / 1e6, "< 18", resident < 18e6, "MB")
    before, began = voluntary_switches(idle.pid), time.monotonic()
    keyring = sandbox.adopt(Keyring(sandbox.folder("keyring"), KEYRING_ITEMS))
    time.sleep(max(0, began + IDLE_SECONDS - time.monotonic()))
    wakes = voluntary_switches(idle.pid) - before
    line(f"wake-ups in {time.monotonic() - began:.0f} s", wakes, "= 0", wakes == 0)

    sleeping(idle, desktop)
    presence(sandbox)
    whole_processes(vault, keyring)
    vault.stop()
    starting(vault)


PARTS = {"requests": requests, "granting": granting.run, "auditing": auditing.run, "deposits": deposits.run,
         "asking": asking.run, "doors": doors.run, "signing": signing.run, "computing": computing.run,
         "fairness": fairness.run, "methods": methods.run, "holding": holding.run, "rekeying": rekeying.run,
         "secret-service": secretservice.run, "sharing": sharing.run, "clients": clients.run, "latency": latency.run,
         "importing": importing.run, "store": store.run, "against": against.run}


def begin_session():
    """Runs this program again in a session of its own, unless it has one that tells its clients from other processes.
    In a container, the kernel shows 0 for a session that was begun outside; a proof of presence then counts for the one
    process that gave it."""
    session = os.getsid(0)
    if session == 0 or not os.path.exists(f"/proc/{session}"):
        os.execvp("setsid", ["setsid", "--wait", sys.executable, "-B", *sys.argv])


def main():
    begin_session()
    parts = set(filter(None, os.environ.get("BENCH_PARTS", "").split(","))) or set(PARTS)
    if parts - set(PARTS):
        sys.exit(f"bench: BENCH_PARTS are {', '.join(PARTS)}")
    print(f"vault bench: {os.cpu_count()} CPUs, {ROUNDS} rounds of {SECONDS:g} s, medians")
    for part, run in PARTS.items():
        if part in parts:
            with Sandbox() as sandbox:
                run(sandbox)
    missed = conclude()
    if not TRIES and chart.draw(RESULT, picture := os.path.splitext(RESULT)[0] + ".svg"):
        print(f"drawn to {picture}")
    sys.exit(1 if missed and os.environ.get("BENCH_STRICT") == "1" else 0)


main()
