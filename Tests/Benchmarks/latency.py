"""The times of a get and an unlock as the number of items grows, vault beside others: two series for the chart.

Each is the least of its rounds: what the tool takes, not what else the machine did."""

import os
from report import BIN, ROUNDS, TRIES, line, measure, series
from store import Store, item, timed
from tools import KeePassXC, Pass
from world import LargeKeyring

SIZES = (100,) if TRIES else (100, 1000, 10_000)
# The sizes that the others do not reach in the time there is.
MORE_SIZES = (1000,) if TRIES else (100_000,)


def note(what, tool, count, milliseconds):
    series.setdefault(what, {}).setdefault(tool, []).append([count, milliseconds])
    line(f"{what}, {tool}, {count:,} items", milliseconds, unit="ms")


def process(command, environment, rounds=3 * ROUNDS):
    return measure("processes", rounds, *command, env=environment)[0]["min"]


def of_vault(vault):
    """By the password, with the Argon2id that a new vault has."""
    vault.converse("Init", {})
    vault.converse("Unlock", {"method": "password"})
    vault.add(range(vault.count))
    command = [os.path.join(BIN, "vault"), "get", item(42, vault.count)["name"]]
    note("get", "vault", vault.count, process(command, vault.environment))
    times = []
    for _ in range(ROUNDS):
        vault.lock()
        times.append(vault.converse("Unlock", {"method": "password"}) * 1e3)
    note("unlock", "vault", vault.count, min(times))


def of_keyring(keyring):
    times = keyring.unlock_times(ROUNDS)
    command = ["secret-tool", "lookup", "name", keyring.item]
    note("get", "gnome-keyring", keyring.count, process(command, keyring.environment))
    note("unlock", "gnome-keyring", keyring.count, min(times))


def of_pass(store):
    """Its agent asks for the passphrase once, and then keeps it: that first one is the unlock."""
    note("get", "pass", store.count, process(store.command(protected=False), store.environment))
    times = []
    for _ in range(ROUNDS):
        store.stop()
        times.append(timed(store.command(protected=True), env=store.environment) * 1e3)
    note("unlock", "pass", store.count, min(times))


def of_keepass(keepass):
    """It opens its file for each get."""
    milliseconds = process(keepass.command, keepass.environment, ROUNDS)
    note("get", "keepassxc-cli", keepass.count, milliseconds)
    note("unlock", "keepassxc-cli", keepass.count, milliseconds)


def run(sandbox):
    print("\na get as a whole process, and an unlock, by number of items (ms)")
    for count in SIZES + MORE_SIZES:
        kinds = [(Store, of_vault)]
        if count in SIZES:
            kinds += [(LargeKeyring, of_keyring), (Pass, of_pass), (KeePassXC, of_keepass)]
        for kind, measured in kinds:
            tool = sandbox.adopt(kind(sandbox.folder(f"{kind.__name__}-{count}"), count))
            measured(tool)
            tool.stop()
