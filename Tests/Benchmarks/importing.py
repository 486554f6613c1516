"""An import of 10,000 entries beside a batch of the same items, and beside another program's own import of them."""

import hashlib, json, os, shutil, subprocess, threading, time
import kdbx
from report import BIN, ROUNDS, line, ratio, setting
from world import PASSWORD, Vault

ENTRIES = setting("IMPORTED", 10_000, 200)
GROUPS = 100
CREATED, MODIFIED = 1_600_000_000, 1_700_000_000


def entries():
    """The entries by their groups: (id, title, user, password, url, created, modified)."""
    groups = {f"group-{i:02}": [] for i in range(GROUPS)}
    for i in range(ENTRIES):
        id = hashlib.sha256(f"entry {i}".encode()).digest()[:16]
        groups[f"group-{i % GROUPS:02}"].append(
            (id, f"Site {i:05}", f"user{i}@example.org", f"{i:024}", f"https://site-{i}.example.org/login", CREATED + i,
             MODIFIED + i))
    return groups


def text(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def items(groups):
    """The items that the import makes, as `vault set --batch` takes them."""
    for group, list in groups.items():
        for id, title, user, password, url, created, modified in list:
            attributes = {"title": title, "username": user, "url": url, "source": f"kdbx:{kdbx.ROOT.hex()}",
                          "source-id": id.hex(), "source-created": text(created), "source-modified": text(modified),
                          "import": "2026-01-01T00:00:00Z-0000", "import-version": "1"}
            yield {"name": f"{group}/{title}", "kind": "password", "value": password, "attributes": attributes}


def bitwarden(groups):
    """The entries as an export of Bitwarden."""
    folders = {name: f"f{number}" for number, name in enumerate(groups)}
    logins = [{"id": id.hex(), "folderId": folders[group], "type": 1, "name": title, "favorite": False,
               "login": {"username": user, "password": password, "uris": [{"match": None, "uri": url}]},
               "creationDate": text(created), "revisionDate": text(modified)}
              for group, list in groups.items() for id, title, user, password, url, created, modified in list]
    return {"encrypted": False, "folders": [{"id": id, "name": name} for name, id in folders.items()], "items": logins}


class Peak(threading.Thread):
    """The most resident memory of a program that a process starts, in bytes; 0 if it was never seen."""

    def __init__(self, parent, name):
        super().__init__(daemon=True)
        self.parent, self.name_sought, self.bytes, self.is_over = parent, name, 0, False

    def run(self):
        while not self.is_over:
            try:
                with open(f"/proc/{self.parent}/task/{self.parent}/children") as file:
                    for pid in file.read().split():
                        self.bytes = max(self.bytes, peak(pid, self.name_sought))
            except (FileNotFoundError, ProcessLookupError):
                pass
            time.sleep(0.01)


def peak(pid, name=None):
    with open(f"/proc/{pid}/status") as file:
        status = dict(row.split(":", 1) for row in file if ":" in row)
    if name and status["Name"].strip() != name[:15]:
        return 0
    return int(status.get("VmHWM", "0 kB").split()[0]) * 1024


def run_vault(vault, arguments, given):
    """Runs the client: seconds, its most resident memory, and that of the program that reads files for it."""
    began = time.perf_counter()
    process = subprocess.Popen([os.path.join(BIN, "vault"), *arguments], env=vault.environment, stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL)
    reader = Peak(process.pid, "vault-import")
    reader.start()
    process.stdin.write(given)
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    reader.is_over = True
    reader.join()
    if process.returncode:
        raise RuntimeError(f"vault {' '.join(arguments)}: {process.returncode}")
    return elapsed, usage.ru_maxrss * 1024, reader.bytes


class Source:
    """The same entries in each form."""

    def __init__(self, folder):
        self.folder, groups = folder, entries()
        self.database, self.export = os.path.join(folder, "bench.kdbx"), os.path.join(folder, "bench.json")
        self.batch = "".join(json.dumps(item, separators=(",", ":")) + "\n" for item in items(groups)).encode()
        with open(self.database, "wb") as file:
            file.write(kdbx.database(groups, PASSWORD))
        with open(self.export, "w") as file:
            json.dump(bitwarden(groups), file)
        self.empty = kdbx.database({}, PASSWORD)

    def merge(self):
        """Seconds in which KeePassXC merges the database into an empty one."""
        target = os.path.join(self.folder, "target.kdbx")
        with open(target, "wb") as file:
            file.write(self.empty)
        began = time.perf_counter()
        subprocess.run(["keepassxc-cli", "merge", "-q", "-s", target, self.database], check=True,
                       input=PASSWORD.encode() + b"\n", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        elapsed = time.perf_counter() - began
        if os.path.getsize(target) < os.path.getsize(self.database) / 2:
            raise RuntimeError("keepassxc-cli has merged nothing")
        return elapsed


def stored(sandbox, name, work):
    """Works on a new vault, in which all entries are afterwards."""
    vault = sandbox.adopt(Vault(BIN, sandbox.folder(name)))
    vault.fill(0)
    result = work(vault)
    with vault.connect() as connection:
        item = vault.ask(connection, "Find", {"query": "name=\"group-42/Site 00042\""})["items"][0]
    daemon = peak(vault.pid)
    vault.stop()
    return *result, daemon, sorted(item["attributes"])


def run(sandbox):
    print(f"\nan import of {ENTRIES:,} entries, in whole, into an empty vault (s)")
    source = Source(sandbox.folder("importing"))
    works = {
        "batch": lambda vault: run_vault(vault, ["set", "--batch"], source.batch),
        "kdbx": lambda vault: run_vault(vault, ["import", "--yes", "--password-stdin", source.database],
                                        PASSWORD.encode() + b"\n"),
        "bitwarden": lambda vault: run_vault(vault, ["import", "--yes", source.export], b""),
    }
    has_other = shutil.which("keepassxc-cli") is not None
    rounds = []
    for number in range(ROUNDS):
        each = {name: stored(sandbox, f"{name}-{number}", work) for name, work in works.items()}
        if each["batch"][4] != each["kdbx"][4]:
            raise RuntimeError(f"the items differ: {each['batch'][4]}, {each['kdbx'][4]}")
        if has_other:
            each["merge"] = (source.merge(),)
        rounds.append(each)

    def compare(name, other):
        return ratio([(each[name][0], each[other][0]) for each in rounds])
    value, ours, theirs = compare("kdbx", "batch")
    line("vault import of KDBX 4, without a key derivation", ours, unit="s")
    line("vault set --batch of the same items", theirs, unit="s")
    line("KDBX 4 to the batch", value, "<= 1.3", value <= 1.3, "x")
    if has_other:
        value, _, theirs = compare("kdbx", "merge")
        line("keepassxc-cli merge into an empty database", theirs, unit="s")
        line("KDBX 4 to keepassxc-cli merge", value, "<= 1.0", value <= 1.0, "x")
    else:
        print("  keepassxc-cli merge: skipped, because it is not installed")
    value, ours, _ = compare("bitwarden", "batch")
    line("vault import of a Bitwarden export", ours, unit="s")
    line("a Bitwarden export to the batch", value, unit="x")
    last = rounds[-1]
    for title, name, place in (("vault, KDBX 4", "kdbx", 1), ("vault-import, KDBX 4", "kdbx", 2),
                               ("vaultd, KDBX 4", "kdbx", 3), ("vault, Bitwarden", "bitwarden", 1),
                               ("vault-import, Bitwarden", "bitwarden", 2), ("vault, the batch", "batch", 1),
                               ("vaultd, the batch", "batch", 3)):
        line(f"most resident memory of {title}", last[name][place] / 1e6, unit="MB")
