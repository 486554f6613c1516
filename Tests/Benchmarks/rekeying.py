"""How long a new vault key takes beside another user, without any right, who floods the daemon with searches."""

import os, signal, time
from granting import Machine
from report import ROUNDS, line, ratio

USER, ITEMS, CONNECTIONS, QUERY = 5001, 900, 10, 950


class Flood:
    """Sends a search over each connection every millisecond, and takes the answers, until it is stopped."""

    def __init__(self, vault):
        clients = [vault.connect(USER) for _ in range(CONNECTIONS)]
        self.pid = os.fork()
        if self.pid:
            for client in clients:
                client.close()
            return
        for client in clients:
            client.setblocking(False)
        frames = {client: b"" for client in clients}
        number = 0
        while True:
            for client in clients:
                try:
                    if not frames[client]:
                        number += 1
                        query = {"query": f"name~{number}".ljust(QUERY, "x")}
                        frames[client] = vault.frame("Find", query)
                    frames[client] = frames[client][client.send(frames[client]):]
                    while client.recv(1 << 16):
                        pass
                except BlockingIOError:
                    pass
            time.sleep(0.001)

    def stop(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def rekey(vault):
    """Milliseconds from the last answer of the person to the end."""
    began = time.perf_counter() - vault.converse("Rekey", {})
    with vault.connect() as connection:
        while "rekey" in vault.ask(connection, "Status", {}):
            time.sleep(0.002)
    return (time.perf_counter() - began) * 1e3


def run(sandbox):
    if os.geteuid() != 0:
        return print("\na new vault key beside a flood: skipped, it takes root to be several users")
    os.chmod(sandbox.root, 0o711)
    vault = sandbox.adopt(Machine(sandbox.folder("rekeying")))
    vault.fill(ITEMS)
    vault.be_reachable()
    pairs = []
    for _ in range(ROUNDS):
        quiet = rekey(vault)
        flood = Flood(vault)
        pairs.append((rekey(vault), quiet))
        flood.stop()
    print(f"\na new vault key for {ITEMS} items, and the same beside {CONNECTIONS} searches of {QUERY} bytes a millisecond of"
          " another user (ms)")
    value, flooded, quiet = ratio(pairs)
    line("in quiet", quiet, unit="ms")
    line("beside the flood", flooded, unit="ms")
    line("the one to the other", value, "<= 2", value <= 2, "x")
    vault.stop()
