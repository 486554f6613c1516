"""The client itself: what its file consists of, and what it does with many names, beside other tools."""

import collections, os, re, statistics, subprocess
from report import BIN, RESULT, ROUNDS, line, measure
from store import FOLDER, Store, item, timed
from tools import KeePassXC, Pass

ITEMS = 10_000
# The first that is found in a linked file's path says what the file is a part of.
PARTS = {
    "Foundation": "Foundation", "regular expressions": "RegexParser|StringProcessing",
    "the argument parser": "ArgumentParser", "Swift's library": "swift_static|libswift", "vault": "/Vault|/vault",
    "C library": "",
}


def size():
    print("\nthe client's file (MB)")
    path = os.path.join(BIN, "vault")
    line("vault, one static file", os.path.getsize(path) / 1e6, unit="MB")
    sizes = collections.Counter()
    # The linker's map of the last build (see Package.swift).
    with open(os.path.join(os.path.dirname(RESULT), "vault.map")) as file:
        for entry in file:
            # Address, load address, size, alignment, and the section of a linked file; what has no address is not
            # loaded.
            match = re.match(r" *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +\d+ +(\S.*):\((\S+)\)$", entry)
            if match and int(match[1], 16) and not match[4].startswith((".bss", ".tbss", "COMMON")):
                owner = next(part for part, pattern in PARTS.items() if re.search(pattern, match[3]))
                sizes[owner] += int(match[2], 16)
    for part, bytes in sizes.most_common():
        line(f"of which {part}", bytes / 1e6, unit="MB")


def names(vault, store, keepass):
    print(f"\n{ITEMS:,} names to a pipe, as a whole process (ms)")
    listing = ["env", f"PASSWORD_STORE_DIR={os.path.join(store.folder, 'open')}", "pass", "ls"]
    commands = {
        "vault list": ([os.path.join(BIN, "vault"), "list"], vault.environment),
        "pass ls": (listing, store.environment),
        "keepassxc-cli ls": (keepass.reading("ls -q -R"), keepass.environment),
    }
    medians = {}
    for title, (command, environment) in commands.items():
        shown = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout
        if shown.count(b"\n") < ITEMS:
            raise RuntimeError(f"{title} shows {shown.count(bytes([10]))} lines")
        medians[title] = measure("processes", ROUNDS, *command, env=environment)[0]["median"]
    for title, median in medians.items():
        line(title, median, unit="ms", to_vault=median / medians["vault list"])


def completion(vault):
    print(f"\nwhat a shell waits for at the tab key, {ITEMS:,} items (ms)")
    whole = item(4242, ITEMS)["name"]
    for title, word, offers, limit in (("an item's name", whole[:-1], 10, 15),
                                       (f"{ITEMS // FOLDER} folders' names", "", 500, None)):
        command = [os.path.join(BIN, "vault"), "__complete", "--", word, "get"]
        shown = subprocess.run(command, env=vault.environment, check=True, stdout=subprocess.PIPE).stdout
        if shown.count(b"\n") < offers:
            raise RuntimeError(f"{word}: {shown.count(bytes([10]))} offers")
        median = statistics.median(timed(command, env=vault.environment) * 1e3 for _ in range(5 * ROUNDS))
        verdict = (f"< {limit}", median < limit) if limit else ()
        line(f"completion of {title}", median, *verdict, unit="ms")


def run(sandbox):
    size()
    vault = sandbox.adopt(Store(sandbox.folder("vault"), ITEMS))
    vault.make()
    vault.add(range(ITEMS))
    completion(vault)
    store = sandbox.adopt(Pass(sandbox.folder("pass"), ITEMS))
    keepass = sandbox.adopt(KeePassXC(sandbox.folder("keepass"), ITEMS))
    names(vault, store, keepass)
