"""What one client's heavy calls cost the others: how long a Status waits beside them, and a lock."""

import os, signal, statistics, subprocess, sys, time
from report import BIN, ROUNDS, line
from world import Vault

ITEMS = 3072
BATCH = 256
GOAL = 20
# It fits no value, and each character of the value leads to all that came before it.
COSTLY = "serial~" + "*a" * 510 + "b"

PROBE = """
import select, socket, sys, time
status = b'{"method":"io.vaultd.Vault.Status"}\\0'
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
worst = 0
while not select.select([0], [], [], 0.0005)[0]:
    began = time.perf_counter()
    connection.sendall(status)
    answer = b""
    while not answer.endswith(b"\\0"):
        answer += connection.recv(65536)
    worst = max(worst, time.perf_counter() - began)
print(worst * 1e3)
"""


def filled(i, folders=1):
    return {"name": "/".join([f"set-{i // BATCH}"] * folders + [f"item-{i}"]), "value": f"{i:064}",
            "attributes": {"serial": "a" * 1000, "number": str(i)}}


class Heavy:
    """Clients that send frames at once and read what comes, in a process of their own."""

    SOURCE = """
import socket, sys
frames, clients = sys.stdin.buffer.read(), []
for _ in range(int(sys.argv[2])):
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    clients.append(client)
import threading
def run(client):
    threading.Thread(target=lambda: (client.sendall(frames), client.shutdown(socket.SHUT_WR)), daemon=True).start()
    while client.recv(1 << 20):
        pass
threads = [threading.Thread(target=run, args=(client,)) for client in clients]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

    def __init__(self, vault, frames, clients):
        self.process = subprocess.Popen([sys.executable, "-c", self.SOURCE, vault.socket, str(clients)],
                                        stdin=subprocess.PIPE)
        self.process.stdin.write(b"".join(frames))
        self.process.stdin.close()

    def wait(self):
        self.process.wait()


def wait_of_status(vault, frames, clients):
    """The longest that a Status waits while the frames are answered, in ms."""
    probe = subprocess.Popen([sys.executable, "-c", PROBE, vault.socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    # Its interpreter has started by the time that the other's has.
    Heavy(vault, [], 1).wait()
    Heavy(vault, frames, clients).wait()
    return float(probe.communicate(b"\n")[0])


def wait_of_lock(vault, frames, clients):
    """How long it takes from SIGUSR1 to the event, while the frames are answered, in ms."""
    with vault.connect() as watcher:
        vault.ask(watcher, "Monitor", {}, more=True)
        heavy = Heavy(vault, frames, clients)
        # Somewhere within what they do.
        time.sleep(0.1)
        began = time.perf_counter()
        os.kill(vault.pid, signal.SIGUSR1)
        data = b""
        while b'"locked"' not in data:
            data += watcher.recv(1 << 20)
        elapsed = (time.perf_counter() - began) * 1e3
        heavy.wait()
    vault.converse("Unlock", {"method": "password"})
    return elapsed


def calls(vault):
    """Each heavy call: its name, the frames for a round, and how many clients send them."""
    def find(query, more=True):
        return vault.frame("Find", {"query": query}, more=more)

    def many(round, folders, count):
        items = [filled(i, folders) | {"name": f"r{round}/{filled(i, folders)['name']}"} for i in range(count)]
        return [vault.frame("SetMany", {"items": items}), vault.frame("Delete", {"names": [i["name"] for i in items]})]

    yield f"Find with a costly pattern, {ITEMS:,} items", lambda _: [find(COSTLY)], 1
    yield "Find with more, everything", lambda _: [find("")] * 5, 1
    yield "six of the costly ones on one connection", lambda _: [find(COSTLY)] * 6, 1
    yield "100 pages on one connection", lambda _: [find("", more=False)] * 100, 1
    yield "the costly one of 32 clients", lambda _: [find(COSTLY)], 32
    yield f"SetMany and Delete of {BATCH} items", lambda n: many(n, 1, BATCH), 1
    yield "SetMany and Delete of 30 items with 30 folders", lambda n: many(n, 29, 30), 1


def run(sandbox):
    print("\nwhat others wait beside one client's heavy calls (ms, the worst of all rounds)")
    vault = sandbox.adopt(Vault(BIN, sandbox.folder("fairness")))
    vault.fill(1)
    with vault.connect() as connection:
        for first in range(0, ITEMS, BATCH):
            vault.ask(connection, "SetMany", {"items": [filled(i) for i in range(first, first + BATCH)]})
    for title, frames, clients in calls(vault):
        waits = [wait_of_status(vault, frames(n), clients) for n in range(ROUNDS)]
        line(title + ": a Status", max(waits), f"<= {GOAL}", max(waits) <= GOAL, "ms", median=statistics.median(waits))
    for title, frames, clients in calls(vault):
        waits = [wait_of_lock(vault, frames(n), clients) for n in range(ROUNDS)]
        line(title + ": a lock", max(waits), f"<= {GOAL}", max(waits) <= GOAL, "ms", median=statistics.median(waits))
    vault.stop()
