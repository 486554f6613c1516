"""The waits of a Status, a Get and a lock beside a call, or an unlock, of a vault with many grants and a long log."""

import os
from fairness import Probe, judged, judged_both, unlock, waits_of_locks
from granting import ITEM, Machine
from report import ROUNDS

USER, GRANTS, ENTRIES = 5001, 2_500, 45_000


def stream(vault, uid, method, parameters):
    """Reads all replies to one call; the bytes of all."""
    with vault.connect(uid) as connection:
        connection.sendall(vault.frame(method, parameters, more=True))
        last, count = b"", 0
        while True:
            part = connection.recv(1 << 18)
            if not part:
                raise ConnectionError("vaultd closed the connection")
            count += len(part)
            last = (last + part)[-(64 << 10):]
            if last.endswith(b"\0") and b'"continues":true' not in last[last.rfind(b"\0", 0, -1) + 1:]:
                return count


def fill(vault):
    vault.make([(f"user:{USER}", f"area-{i}/*") for i in range(GRANTS)])
    with vault.connect() as connection:
        for i in range(GRANTS - 500):
            grant = {"subject": f"user:{USER}", "items": f"area-{i}/*", "rights": ["get", "find"]}
            vault.ask(connection, "Grant", grant)
        frames = [vault.frame("Get", {"name": ITEM, "reason": f"purpose {i}"}) for i in range(ENTRIES)]
        for first in range(0, ENTRIES, 100):
            connection.sendall(b"".join(frames[first:first + 100]))
            left = 100
            while left:
                left -= connection.recv(1 << 16).count(b"\0")


def change(vault, number):
    grant = {"subject": f"user:{USER}", "items": f"changed-{number}/*"}
    with vault.connect() as connection:
        vault.ask(connection, "Grant", {**grant, "rights": ["get"]})
        vault.ask(connection, "Revoke", grant)


def start_again(vault):
    vault.stop()
    vault.open()
    vault.be_reachable()


def run(sandbox):
    if os.geteuid() != 0:
        return print("\nmany grants: skipped, it takes root to be several users")
    os.chmod(sandbox.root, 0o711)
    vault = sandbox.adopt(Machine(sandbox.folder("holding"), "audit-size = 1g\n"))
    fill(vault)
    vault.converse("AddSlot", {"kind": "recovery"})
    print(f"\nwhat others wait beside one call, with {GRANTS:,} grants of one user and {ENTRIES:,} entries"
          " (ms, the worst of all rounds)")
    calls = (
        ("Grants", lambda n: None, lambda n: stream(vault, None, "Grants", {})),
        ("Grants, the user's own", lambda n: None, lambda n: stream(vault, USER, "Grants", {})),
        ("Find by the user", lambda n: None, lambda n: stream(vault, USER, "Find", {"query": ""})),
        ("WhoMay", lambda n: None, lambda n: stream(vault, None, "WhoMay", {"name": "area-7/x"})),
        ("Grant and Revoke", lambda n: None, lambda n: change(vault, n)),
        ("Audit", lambda n: None, lambda n: stream(vault, None, "Audit", {})),
        ("an unlock", lambda n: vault.lock(), lambda n: unlock(vault)),
        ("the first unlock", lambda n: start_again(vault), lambda n: unlock(vault)),
    )
    for title, before, call in calls:
        waits = []
        for number in range(ROUNDS):
            before(number)
            probe = Probe(vault, ITEM)
            call(number)
            waits.append(probe.end())
        judged_both(title, waits)
        judged(f"{title}: a lock", waits_of_locks(vault, call, before))
    vault.stop()
