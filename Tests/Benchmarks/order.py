#!/usr/bin/env python3
"""order.py BIN PROGRAMS ORDER: writes the names of the functions that `vault` runs at its start to ORDER, for the linker.

BIN has a `vault` that is not stripped. A name that no longer exists, or that the linker does not find, does no harm."""

import bisect, os, subprocess, sys
from world import Sandbox, Vault

BIN, PROGRAMS, ORDER = sys.argv[1:4]
ITEMS = 100
# What scripts run most. Those that parse their arguments by the book run millions of steps before they begin.
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


def main():
    program = os.path.join(BIN, "vault")
    functions = Functions(program)
    with Sandbox() as sandbox:
        vault = sandbox.adopt(Vault(BIN, sandbox.folder("vault")))
        vault.fill(ITEMS)
        steps = [os.path.join(PROGRAMS, "steps"), program, *COMMAND]
        ran = subprocess.run(steps, env=vault.environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    order = dict.fromkeys(name for line in ran.split() for name in functions.at(int(line, 16)))
    print(f"{len(order)} names, written to {ORDER}")
    with open(ORDER, "w") as file:
        file.writelines(name + "\n" for name in order)


main()
