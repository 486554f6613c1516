"""Calls that wait for a person, and watchers: from an approval to the value, many watchers, and an agent at rest."""

import json, os, statistics, time
from report import BIN, IDLE_SECONDS, ROUNDS, line, measure
from world import Server, Vault, voluntary_switches

WATCHERS, REST_SECONDS = 1000, IDLE_SECONDS / 2


class Agent(Server):
    """The program vault-agent, attending a vault through a face that asks nobody."""

    def __init__(self, vault):
        self.vault = vault

    def open(self):
        self.start([os.path.join(BIN, "vault-agent"), "--faces", "command", "--command", "/bin/true", "--socket",
                    self.vault.socket], env=self.vault.environment)
        with self.vault.connect() as connection:
            while not self.vault.ask(connection, "Status", {}).get("agents"):
                assert self.process.poll() is None, "vault-agent has ended"


def granted_to_another(vault):
    """A vault that another user reaches, who may have nothing of it."""
    vault.be_reachable()
    with vault.connect() as connection:
        vault.ask(connection, "Grant", {"subject": "user:65534", "items": "none/**", "rights": ["get"]})


def pending(vault):
    """The number of the one request that waits, once it is there."""
    while True:
        with vault.connect() as connection:
            connection.sendall(vault.frame("Requests", {}, more=True))
            data = b""
            while not data.endswith(b"\0") or json.loads(data[:-1].split(b"\0")[-1]).get("continues"):
                data += connection.recv(65536)
        for page in data[:-1].split(b"\0"):
            for request in json.loads(page)["parameters"]["requests"]:
                if request["state"] == "pending":
                    return request["number"]


def approvals(vault):
    print("\nfrom an approval to the value of the caller that waits (ms)")
    times = []
    with vault.connect() as owner:
        for index in range(20 * ROUNDS):
            # Each by another user: one may ask a few times a minute.
            with vault.connect(20_000 + index) as asker:
                name = f"bench/item-{index % 100:03}"
                asker.sendall(vault.frame("Get", {"name": name, "reason": "bench", "wait_ms": 60000}))
                number = pending(vault)
                begun = time.perf_counter()
                owner.sendall(vault.frame("Approve", {"number": number, "uses": 1}))
                assert vault.answer(asker)["value"] == f"{index % 100:064}"
                times.append((time.perf_counter() - begun) * 1e3)
                vault.answer(owner)
    line("median", statistics.median(times), unit="ms")
    worst = max(times)
    line(f"worst of {len(times)}", worst, "< 5", worst < 5, "ms")


def watchers(vault):
    print(f"\n{WATCHERS:,} watchers are told of one change (ms)")
    monitor = json.dumps({"method": "io.vaultd.Vault.Monitor", "parameters": {}, "more": True})
    change = json.dumps({"method": "io.vaultd.Vault.Set",
                         "parameters": {"name": "bench/watched", "value": "x", "update": True}})
    with vault.connect() as connection:
        vault.ask(connection, "Set", {"name": "bench/watched", "value": "x"})
    told = measure("watch", vault.socket, WATCHERS, 20 * ROUNDS, monitor, change)
    line("the last one, median", told["median"], unit="ms")
    line("the last one, worst change", told["worst"], "< 50", told["worst"] < 50, "ms")


def at_rest(sandbox, vault):
    agent = sandbox.adopt(Agent(vault))
    print("\nvault-agent at rest, attending a vault")
    # It goes on for a moment after the daemon knows of it.
    time.sleep(1)
    before = voluntary_switches(agent.pid)
    time.sleep(REST_SECONDS)
    woken = voluntary_switches(agent.pid) - before
    line(f"wake-ups in {REST_SECONDS:.0f} s", woken, "== 0", woken == 0)
    resident = agent.resident_bytes() / 1e6
    line("resident memory", resident, "< 12", resident < 12, "MB")
    agent.stop()


def run(sandbox):
    vault = sandbox.adopt(Vault(BIN, sandbox.folder("asking"), "max-connections = 4096\n"))
    vault.fill(100)
    at_rest(sandbox, vault)
    watchers(vault)
    if os.geteuid() == 0:
        granted_to_another(vault)
        approvals(vault)
    else:
        print("\napprovals: skipped: another user asks, which needs root")
