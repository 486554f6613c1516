#!/usr/bin/env python3
"""order.py BIN PROGRAMS ORDER DAEMON_ORDER: writes the names of the functions that `vault` runs at its start to ORDER,
and of those that `vaultd` runs in everyday use to DAEMON_ORDER, for the linker.

BIN has programs that are not stripped. A name that no longer exists, or that the linker does not find, does no harm."""

import bisect, os, re, subprocess, sys
from world import Desktop, Sandbox, Vault, await_name

BIN, PROGRAMS, ORDER, DAEMON_ORDER = sys.argv[1:5]
ITEMS = 100
# The command that scripts run most. Those that parse their arguments by the book run millions of steps before they
# begin.
COMMAND = ["get", "bench/item-042"]


class Functions:
    """The functions of a program, by address."""

    def __init__(self, program):
        lines = subprocess.run(["nm", "-n", program], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        symbols = [line.split() for line in lines]
        code = [(int(s[0], 16), s[2]) for s in symbols if len(s) == 3 and s[1] in "tTwWi"]
        self.addresses, self.names = zip(*code)

    def at(self, address):
        """All the names of the function that the address is in."""
        start = self.addresses[bisect.bisect_right(self.addresses, address) - 1]
        first, end = bisect.bisect_left(self.addresses, start), bisect.bisect_right(self.addresses, start)
        return self.names[first:end]


def write(names, file):
    print(f"{len(names)} names, written to {file}")
    with open(file, "w") as order:
        order.writelines(name + "\n" for name in names)


def client():
    program = os.path.join(BIN, "vault")
    functions = Functions(program)
    with Sandbox() as sandbox:
        vault = sandbox.adopt(Vault(BIN, sandbox.folder("vault")))
        vault.fill(ITEMS)
        steps = [os.path.join(PROGRAMS, "steps"), program, *COMMAND]
        said = subprocess.run(steps, env=vault.environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    write(dict.fromkeys(name for line in said.split() for name in functions.at(int(line, 16))), ORDER)


def ran(settings, use):
    """The functions that the daemon runs from its start to its end. Callgrind notes them; the daemon has too many
    threads and steps for `steps`."""
    with Sandbox() as sandbox:
        folder = sandbox.folder("vault")
        notes = os.path.join(folder, "callgrind")
        vault = Vault(BIN, folder, settings)
        desktop = sandbox.adopt(Desktop(folder))
        tool = ["valgrind", "-q", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={notes}"]
        vault.command = tool + vault.command
        vault.environment["LD_PRELOAD"] = os.path.join(PROGRAMS, "pidfd.so")
        sandbox.adopt(vault)
        desktop.await_inhibitor()
        vault.fill(ITEMS)
        use(vault)
        vault.stop()
        with open(notes) as file:
            names = re.findall(r"^c?fn=\(\d+\) (\S+)$", file.read(), re.M)
    return [re.sub(r"'\d+$", "", name) for name in names]


def every_day(vault):
    with vault.connect() as connection:
        for method, parameters in (
            ("Set", {"name": "bench/set", "value": "secret", "accessible": "after-first-unlock"}),
            ("Status", {}), ("Show", {"name": "bench/set"}), ("Find", {"query": "kind=api-key", "limit": 100}),
            ("Delete", {"names": ["bench/set"]}),
        ):
            vault.ask(connection, method, parameters)
    vault.lock()
    vault.converse("Unlock", {"method": "password"})
    environment = vault.environment | {"SSH_AUTH_SOCK": os.path.join(os.path.dirname(vault.socket), "ssh.socket")}
    subprocess.run(["ssh-add", "-l"], env=environment, stdout=subprocess.DEVNULL, check=False)


def on_the_desktop(vault):
    await_name(vault.environment)
    item = "bench", "order"
    for command, *words in ["store", "--label=order"], ["lookup"], ["search", "--all"], ["clear"]:
        subprocess.run(["secret-tool", command, *words, *item], input=b"secret", env=vault.environment, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def daemon():
    # The functions of a door that is off by itself come last, so that they take no memory of those who leave it off.
    names = ran("ssh-agent = on\n", every_day) + ran("secret-service = on\n", on_the_desktop)
    write(dict.fromkeys(names), DAEMON_ORDER)


client()
daemon()
