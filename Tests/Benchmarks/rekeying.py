"""The time of a new vault key beside a flood of another user: of searches without any right, and of granted writes."""

import os, signal, time
from granting import Machine
from report import ROUNDS, line, ratio

USER, WRITER, ITEMS, CONNECTIONS, QUERY = 5001, 5002, 900, 10, 950


def search(vault, number):
    return vault.frame("Find", {"query": f"name~{number}".ljust(QUERY, "x")})


def write(vault, number):
    return vault.frame("Set", {"name": f"flood/{number % 100}", "value": str(number), "update": True})


class Flood:
    """Sends a call over each connection every millisecond, and takes the answers, until it is stopped."""

    def __init__(self, vault, user, call):
        clients = [vault.connect(user) for _ in range(CONNECTIONS)]
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
                        frames[client] = call(vault, number)
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
    with vault.connect() as connection:
        vault.ask(connection, "Grant", {"subject": f"user:{WRITER}", "items": "flood/*", "rights": ["set"]})
        for number in range(100):
            vault.ask(connection, "Set", {"name": f"flood/{number}", "value": "v"})
    print(f"\na new vault key for {ITEMS} items, and the same beside {CONNECTIONS} calls a millisecond "
          "of another user (ms)")
    for title, user, call in ((f"searches of {QUERY} bytes", USER, search), ("granted writes", WRITER, write)):
        pairs = []
        for _ in range(ROUNDS):
            quiet = rekey(vault)
            flood = Flood(vault, user, call)
            pairs.append((rekey(vault), quiet))
            flood.stop()
        value, flooded, quiet = ratio(pairs)
        line("in quiet", quiet, unit="ms")
        line(f"beside {title}", flooded, unit="ms")
        line("the one to the other", value, "<= 2", value <= 2, "x")
    vault.stop()
