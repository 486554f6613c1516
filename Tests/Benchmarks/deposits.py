"""The cost of an unlock that takes in the deposits left while the vault was locked."""

import statistics
from report import BIN, ROUNDS, line
from world import Vault

COUNT = 1000


def leave(vault, number):
    """Leaves values for so many new items, one after the other."""
    with vault.connect() as connection:
        for index in range(COUNT):
            reply = vault.ask(connection, "Deposit", {
                "name": f"left/{number}/{index:04}", "value": f"{index:064}", "kind": "device-token",
                "attributes": {"number": str(index)}})
            assert reply["waiting"], reply


def run(sandbox):
    vault = sandbox.adopt(Vault(BIN, sandbox.folder("deposits")))
    vault.fill(100)
    print(f"\nan unlock that takes in {COUNT:,} deposits (ms)")
    with_none, with_all = [], []
    for number in range(ROUNDS):
        vault.lock()
        with_none.append(vault.converse("Unlock", {"method": "password"}))
        vault.lock()
        leave(vault, number)
        with_all.append(vault.converse("Unlock", {"method": "password"}))
        with vault.connect() as connection:
            name = f"left/{number}/{COUNT - 1:04}"
            assert vault.ask(connection, "Get", {"name": name})["value"] == f"{COUNT - 1:064}"
    plain, full = statistics.median(with_none) * 1e3, statistics.median(with_all) * 1e3
    line("an unlock, nothing was left", plain, unit="ms")
    line(f"an unlock, {COUNT:,} were left", full, unit="ms")
    added = statistics.median(b - a for a, b in zip(with_none, with_all)) * 1e3
    line("what taking them in adds", added, "< 100", added < 100, "ms")
