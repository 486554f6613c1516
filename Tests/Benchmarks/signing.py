"""Keys that are used without being read: the ssh-agent beside OpenSSH's, and tokens beside a plain get."""

import os, statistics, subprocess
from granting import frame
from report import BIN, ROUNDS, SECONDS, line, measure, ratio
from world import Server, Vault

KEY, TOKENS, ITEM = "ssh/bench", "iot/bench", "bench/item-042"
# The header and the claims of such a token, in base64.
SIGNED_BYTES = 240


class OpenSSHAgent(Server):
    """ssh-agent in the foreground, with one Ed25519 key."""

    def __init__(self, folder):
        self.folder, self.socket = folder, os.path.join(folder, "agent")

    def open(self):
        self.start(["ssh-agent", "-D", "-a", self.socket], stdout=subprocess.DEVNULL)
        key = os.path.join(self.folder, "key")
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        environment = os.environ | {"SSH_AUTH_SOCK": self.socket}
        while subprocess.run(["ssh-add", "-q", key], env=environment, stderr=subprocess.DEVNULL,
                             check=False).returncode:
            pass


def agents(vault, theirs):
    socket = os.path.join(os.path.dirname(vault.socket), "ssh.socket")
    print("\nan ssh-agent with one Ed25519 key (1/s)")
    for what, goal in (("sign", 0.8), ("list", 1.0)):
        for clients in (1, 64):
            pairs = []
            for _ in range(ROUNDS):
                ours = measure("agent", socket, clients, SECONDS, what)
                other = measure("agent", theirs.socket, clients, SECONDS, what)
                pairs.append((ours["total"], other["total"]))
            value, ours, other = ratio(pairs)
            title = f"{what}, {clients} client{'s' if clients > 1 else ''}"
            line(f"vaultd, {title}", ours)
            line(f"OpenSSH's ssh-agent, {title}", other)
            line(f"ratio, {title}", value, f">= {goal}", value >= goal, "x")


def tokens(vault):
    """A token is a get and a signature: what these two alone would take together is the yardstick."""
    print("\nIssueToken by an Ed25519 key, beside a get of a 64-byte item and a signature made from C (1/s)")
    triples = []
    for _ in range(ROUNDS):
        issue = measure("load", vault.socket, 1, SECONDS, frame("IssueToken", name=TOKENS, subject="lamp-17"))
        get = measure("load", vault.socket, 1, SECONDS, frame("Get", name=ITEM))
        sign = measure("sign", SECONDS, SIGNED_BYTES)
        triples.append((issue["total"], get["total"], sign["total"]))
    issue, get, sign = map(statistics.median, zip(*triples))
    line("IssueToken", issue)
    line("Get", get)
    line("crypto_sign_detached from C", sign)
    value = statistics.median(issue * (1 / get + 1 / sign) for issue, get, sign in triples)
    line("IssueToken to a get and a signature", value, ">= 0.8", value >= 0.8, "x")


def run(sandbox):
    vault = sandbox.adopt(Vault(BIN, sandbox.folder("signing"), "ssh-agent = on\n"))
    vault.fill(100)
    with vault.connect() as connection:
        for name, use in ((KEY, "ssh"), (TOKENS, "jwt")):
            vault.ask(connection, "Set", {"name": name, "use": use, "generate": {"style": "ed25519"}})
    theirs = sandbox.adopt(OpenSSHAgent(sandbox.folder("openssh")))
    agents(vault, theirs)
    tokens(vault)
