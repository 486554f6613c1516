"""Vaults that have what the mock service of libsecret's tests has, for tests that are made for it.

SecretStorage's tests use the same mock. It is a program that prints a name on the bus; here that program asks this one
to prepare the vault. Object paths are others than the mock's, so the tests' text is changed by them.
"""

import os, re, shutil, socket, subprocess, tempfile, threading, time

from stand import NAME, ROOT, SECRET, Failure, Stand

COLLECTION = ROOT + "/collection/"
LATER = "secret-service-accessible = when-unlocked\n"


def item(name, secret, number, word, label="Item", schema="org.mock.Schema", **more):
    attributes = {"number": number, "string": word, **more} | ({"xdg:schema": schema} if schema else {})
    return name, label, secret, attributes


# The items of the mock scripts, in the order in which they make them. One that is locked there is of the class
# when-unlocked here, and the vault is locked.
ENGLISH = (item("1", "111", "1", "one", "Item One", even="false"),
           item("2", "222", "2", "two", "Item Two", even="true"),
           item("3", "333", "3", "three", "Item Three", even="false"))
SPANISH = (item("10", "111", "1", "uno", even="false"), item("20", "222", "2", "dos", even="true"),
           item("30", "3333", "3", "tres", even="false"))
GERMAN = (item("300", "333", "3", "drei", schema="org.mock.Primes", prime="true"),
          item("400", "444", "4", "vier", schema="org.mock.Primes", prime="false"),
          item("500", "555", "5", "fuenf", schema="org.mock.Primes", prime="true"),
          item("600", "666", "6", "sechs", schema="org.mock.Primes", prime="false"))
OPEN = (item("item", "uno", "1", "one", schema=None, even="false"),
        item("confirm", "dos", "2", "two", schema=None, even="true"))
SHUT = (item("locked", "tres", "3", "three", schema=None, even="false"),)
STANDARD = (("english", "Collection One", False, ENGLISH), ("spanish", "Collection", True, SPANISH),
            ("german", "Collection", True, GERMAN), ("empty", "Collection", False, ()))
SCRIPTS = {
    "mock-service-normal.py": (),
    "mock-service-delete.py": (("todelete", "Collection", False, OPEN), ("twodelete", "Collection", True, SHUT)),
    "mock-service-lock.py": (("lockone", "Collection", False, OPEN), ("lockprompt", "Collection", True, SHUT)),
    "mock-service-empty.py": None,
}
SCRIPT = """import os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as harness:
    harness.connect(os.environ["INTEROP_HARNESS"])
    harness.sendall(os.path.basename(sys.argv[0]).encode() + b"\\n")
    print(harness.makefile().readline().strip(), flush=True)
signal.pause()
"""


def replaced(text, paths):
    """The text of a test with the paths of the vault in place of the mock's."""
    for theirs in sorted(paths, key=len, reverse=True):
        text = re.sub(re.escape(theirs) + r'(?=["/])', paths[theirs], text)
    return text


class Vaults:
    """The store for each mock script, filled once, and the paths of what is in it."""

    def __init__(self, programs):
        self.programs, self.paths = programs, {}
        self.folder = tempfile.mkdtemp(prefix="vault-interop-stores.", dir="/tmp")
        with Stand(programs) as stand:
            self.keep(stand, "mock-service-empty.py")
            self.fill(stand, STANDARD)
            stand.call(ROOT, SECRET + "Service", "SetAlias", "so", "default", self.paths[COLLECTION + "english"])
            self.paths[COLLECTION + "english/0000"] = self.paths[COLLECTION + "english"] + "/0000000000000000"
            self.keep(stand, "mock-service-normal.py")
        for script, more in SCRIPTS.items():
            if more:
                with Stand(programs) as stand:
                    self.lay(stand, "mock-service-normal.py")
                    stand.unlock()
                    self.fill(stand, more)
                    self.keep(stand, script)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def fill(self, stand, collections):
        for name, label, is_locked, items in collections:
            stand.configure(LATER if is_locked else "")
            stand.vault("reload")
            path = self.paths[COLLECTION + name] = stand.create_collection(label)
            for (element, *_), made in zip(items, self.made(stand, path, items)):
                self.paths[f"{COLLECTION}{name}/{element}"] = made
        stand.configure("")
        stand.vault("reload")

    def made(self, stand, collection, items):
        """The paths of new items. Those that some tests sort come in that order."""
        while True:
            paths = [stand.create_item(collection, label, attributes, secret.encode())
                     for _, label, secret, attributes in items]
            if items is not ENGLISH or paths == sorted(paths):
                return paths
            for path in paths:
                stand.call(path, SECRET + "Item", "Delete")

    def keep(self, stand, script):
        stand.stop()
        shutil.copytree(stand.path("data"), os.path.join(self.folder, script))
        stand.begin()
        stand.unlock()

    def lay(self, stand, script):
        """Has a daemon serve the script's store."""
        stand.stop()
        shutil.rmtree(stand.path("data"))
        shutil.copytree(os.path.join(self.folder, script), stand.path("data"))
        stand.begin()


class Worker:
    """A vault on a bus of its own, which is laid anew for each test, and opened for whoever prompts."""

    def __init__(self, vaults):
        self.vaults, self.stand = vaults, Stand(vaults.programs)
        self.lock = self.lock_by_class
        self.is_known_by_number = False
        self.busy, self.is_closed = threading.Lock(), False
        self.door = socket.socket(socket.AF_UNIX)
        self.door.bind(self.stand.path("harness"))
        self.door.listen()
        scripts = self.stand.path("scripts")
        os.makedirs(scripts + "/libsecret")
        for script in (*SCRIPTS, "mock-service-only-plain.py"):
            self.stand.write("scripts/libsecret/" + script, SCRIPT)
        self.variables = {"INTEROP_HARNESS": self.stand.path("harness"), "INTEROP_SOURCE": scripts,
                          "INTEROP_SCRIPTS": scripts + "/libsecret", "PATH": "/usr/bin:/bin"}
        self.threads = [threading.Thread(target=self.prepare), threading.Thread(target=self.open)]
        for thread in self.threads:
            thread.start()

    def close(self):
        self.is_closed = True
        self.door.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.door.close()
        self.stand.__exit__()

    def lock_by_class(self):
        """Locks what the mock has locked, and nothing else."""
        self.stand.vault("lock")

    def lock_all(self):
        self.stand.lock_on_bus()

    def prepare(self):
        while True:
            try:
                connection, _ = self.door.accept()
            except OSError:
                return
            with connection, self.busy:
                script = connection.makefile().readline().strip().replace("only-plain", "normal")
                self.vaults.lay(self.stand, script)
                self.stand.unlock()
                self.lock()
                name = self.stand.unique_name() if self.is_known_by_number else NAME
                connection.sendall(name.encode() + b"\n")

    def open(self):
        """Unlocks the vault for each prompt, as a person would."""
        while not self.is_closed:
            with self.busy:
                try:
                    if self.stand.status("prompts"):
                        self.stand.unlock()
                except Failure:
                    pass
            time.sleep(0.05)

    def run(self, *command, **options):
        try:
            return self.stand.run(*command, seconds=60, **options, **self.variables)
        except subprocess.TimeoutExpired as late:
            return subprocess.CompletedProcess(command, -1, "", f"took more than {late.timeout} s")
