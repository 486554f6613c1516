#!/usr/bin/env python3
"""soak.py BIN CLOCK: 64 clients of four users at a machine's vault, for SOAK_MINUTES (30), while it locks, unlocks,
rekeys, backs up, verifies, is stopped and killed, meets a full disk and a clock that jumps, and grants come and go.

At the end everything that was acknowledged must be there, the check must find nothing, and what was copied must be
whole. The second half kills no daemon: memory, descriptors and the store's size must be at its end what they were at
its beginning, or the reason must be told. It runs as root, for the users and for a small disk, in a mount namespace of
its own."""

import contextlib, json, os, random, shutil, signal, socket, struct, subprocess, sys, tempfile, time

BIN, CLOCK = sys.argv[1:3]
SECONDS = float(os.environ.get("SOAK_MINUTES", 30)) * 60
# Until then a daemon takes memory and its store takes pages that they will use again: what they have after a shorter
# run says nothing.
WARM_SECONDS = 600
SEED = int(os.environ.get("SOAK_SEED", time.time_ns() % 1_000_000))
USERS = (5001, 5002, 5003, 5004)
PASSWORD = "correct horse battery"
HERE = os.path.dirname(os.path.abspath(__file__))
DISK = 96 << 20
MEMORY_ROOM, SIZE_ROOM = 2 << 20, 0.1
# The store's log keeps so much of its length when it begins anew, if it ever had it.
LOG = 4 << 20
draw = random.Random(SEED)


class Soak:
    def __init__(self, folder):
        self.folder = folder
        self.disk = os.path.join(folder, "disk")
        self.store = os.path.join(self.disk, "vault")
        self.socket = os.path.join(folder, "run", "socket")
        self.clock = os.path.join(folder, "clock")
        self.process, self.crews, self.counts, self.rekeys = None, [], {}, 0
        for name in (self.disk, os.path.dirname(self.socket)):
            os.mkdir(name, 0o755)
        with open(self.clock, "wb") as file:
            file.write(bytes(8))
        with open(os.path.join(folder, "settings"), "w") as file:
            file.write("idle = off\nmaximum-age = off\nmax-requests-per-second = 10000000\n")

    # The daemon, which gets its socket as from a service manager.

    def listen(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.socket)
        os.chmod(self.socket, 0o666)
        self.listener.listen(512)

    def start(self):
        def third():
            os.dup2(self.listener.fileno(), 3)
            os.set_inheritable(3, True)

        command = [os.path.join(BIN, "vaultd"), "--system", "--store", self.store, "--socket", self.socket, "--config",
                   os.path.join(self.folder, "settings"), "--log", "stderr"]
        environment = {"PATH": os.environ["PATH"], "HOME": self.folder, "LD_PRELOAD": CLOCK, "SOAK_CLOCK": self.clock}
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(["sh", "-c", 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"', "sh", *command],
                                            env=environment, preexec_fn=third, pass_fds=[3], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)

    def resident(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmRSS"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    # An administrator's calls.

    def vault(self, *words, secret=False, passes=(0,)):
        command = [os.path.join(BIN, "vault"), "--socket", self.socket, *words] + ["--password-stdin"] * secret
        outcome = subprocess.run(command, input=PASSWORD if secret else "", text=True, capture_output=True, timeout=300)
        if outcome.returncode not in passes:
            said = f"{outcome.stderr} {outcome.stdout[-2000:]}"
            raise RuntimeError(f"vault {' '.join(words)}: {outcome.returncode}: {said}")
        return outcome

    def state(self):
        return json.loads(self.vault("status", "--json").stdout)["state"]

    def unlock(self):
        if self.state() != "unlocked":
            self.vault("unlock", secret=True)

    # The disturbances.

    def lock(self):
        self.vault("lock")
        time.sleep(draw.uniform(0, 0.5))
        self.unlock()

    def rekey(self):
        self.vault("rekey", secret=True)
        self.rekeys += 1

    def backup(self):
        path = os.path.join(self.folder, "backup")
        if os.path.exists(path):
            os.unlink(path)
        self.vault("backup", path)

    def verify(self):
        outcome = self.vault("verify", passes=(0, 1, 65))
        if outcome.returncode:
            raise RuntimeError(f"the check finds: {outcome.stdout} {outcome.stderr}")

    def delete(self):
        """An administrator's own items come and go, and the trash with them."""
        names = [f"passing/{i}" for i in range(40)]
        for name in names:
            self.vault("set", name, "--generate", "--update")
        self.vault("rm", "--yes", *names)
        self.vault("trash", "empty", "--yes")

    def revoke(self):
        uid = draw.choice(USERS)
        with self.hidden(uid):
            self.vault("revoke", f"user:{uid}", f"soak/{uid}/**")
            time.sleep(draw.uniform(0, 1))
            self.grant(uid)

    @contextlib.contextmanager
    def hidden(self, *uids):
        """Has the clients know that a search of theirs may leave something out."""
        for end in range(2):
            for uid in uids:
                with open(self.account_of(uid), "ab") as file:
                    file.write(b".")
            if end == 0:
                yield

    def account_of(self, uid):
        return os.path.join(self.folder, f"hidden-{uid}")

    def grant(self, uid):
        self.vault("grant", f"user:{uid}", f"soak/{uid}/**", "--can", "get,set,find,watch")

    def jump(self):
        """Back to the machine's time in the end."""
        for seconds in (draw.choice((3600, 86400, 40 * 86400, -3600, -40 * 86400)), 0):
            with open(self.clock, "r+b") as file:
                file.write(struct.pack("q", seconds))
            time.sleep(draw.uniform(0.5, 2))
            self.vault("status")

    def fill(self):
        ballast = os.path.join(self.disk, "ballast")
        with open(ballast, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(64 << 10))
            except OSError:
                pass
        time.sleep(draw.uniform(1, 3))
        self.vault("status")
        os.unlink(ballast)

    def stop(self):
        self.end(signal.SIGTERM)

    def kill(self):
        self.end(signal.SIGKILL)

    def end(self, number):
        with self.hidden(*USERS):
            self.process.send_signal(number)
            status = self.process.wait(60)
            if number == signal.SIGTERM and status != 0:
                raise RuntimeError(f"the daemon ends with {status}")
            time.sleep(draw.uniform(0, 0.2))
            self.start()
            # Items that are served without an unlock wait for nothing.
            time.sleep(draw.uniform(0, 0.5))
            self.unlock()

    # The clients.

    def call(self, order):
        for crew in self.crews:
            crew.stdin.write(order + "\n")
            crew.stdin.flush()
        if order == "work":
            return None
        return [json.loads(self.hear(crew)) if order == "end" else self.hear(crew) for crew in self.crews]

    def hear(self, crew):
        line = crew.stdout.readline()
        if not line or line.startswith('{"failed"'):
            raise RuntimeError(f"a client: {line}")
        return line

    def look(self):
        """Raises an error unless all are still at work."""
        for crew in self.crews:
            if crew.poll() is not None:
                raise RuntimeError(f"a client: {crew.stdout.read()}")
        if self.process.poll() is not None:
            raise RuntimeError(f"the daemon has ended: {self.process.returncode}")

    def measure(self):
        """Returns what the daemon holds while nobody asks for anything."""
        self.call("rest")
        self.delete()
        self.lock()
        self.verify()
        time.sleep(1)
        store = os.path.join(self.store, "vault.db")
        figures = {"memory": self.resident(), "descriptors": self.descriptors(), "store": os.path.getsize(store),
                   "log": os.path.getsize(store + "-wal")}
        self.call("work")
        return figures

    def go_on(self, events, seconds):
        """Each event once in each round, in an order that is drawn."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for event in draw.sample(events, len(events)):
                time.sleep(draw.uniform(0, 1.5))
                self.look()
                event()
                self.unlock()
                self.counts[event.__name__] = self.counts.get(event.__name__, 0) + 1
                if time.monotonic() > until and self.counts.get(event.__name__, 0) > 1:
                    break

    def run(self):
        must_mount(self.disk)
        os.mkdir(self.store, 0o700)
        self.listen()
        self.start()
        self.vault("init", "--kdf-memory", "19m", "--kdf-passes", "2", secret=True)
        self.unlock()
        for uid in USERS:
            self.grant(uid)
            open(self.account_of(uid), "wb").close()
        self.crews = [subprocess.Popen([sys.executable, os.path.join(HERE, "crew.py"), self.socket, str(uid),
                                        self.account_of(uid)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                      for uid in USERS]
        self.call("rest")
        self.call("work")
        calm = [self.lock, self.rekey, self.backup, self.verify, self.delete, self.revoke, self.jump, self.fill]
        self.go_on(calm + [self.stop, self.kill], SECONDS / 2)
        # Memory that the first of each kind of call takes for good is no leak.
        self.go_on(calm, SECONDS / 8)
        before = self.measure()
        self.go_on(calm, SECONDS * 3 / 8)
        after = self.measure()
        self.call("rest")
        ends = self.call("end")
        self.account(ends)
        return before, after, ends

    def account(self, ends):
        """Checks that all is there that was acknowledged, in the store and in a copy of it."""
        self.verify()
        known = {name: value for end in ends for name, value in end["known"].items()}
        self.compare(known)
        self.backup()
        copy = Soak(os.path.join(self.folder, "copy"))
        try:
            copy.store = os.path.join(copy.folder, "vault")
            os.mkdir(copy.store, 0o700)
            copy.listen()
            copy.start()
            copy.vault("restore", os.path.join(self.folder, "backup"), secret=True)
            copy.unlock()
            copy.compare(known)
        finally:
            if copy.process:
                copy.process.terminate()
                copy.process.wait(60)

    def compare(self, known):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.socket)
        for name, (acknowledged, open_ones) in known.items():
            call = {"method": "io.vaultd.Vault.Get", "parameters": {"name": name}}
            connection.sendall(json.dumps(call).encode() + b"\0")
            text = b""
            while not text.endswith(b"\0"):
                text += connection.recv(1 << 16)
            reply = json.loads(text[:-1])
            value = None if reply.get("error", "").endswith("NoSuchItem") else reply["parameters"]["value"]
            if value not in [acknowledged, *open_ones]:
                raise RuntimeError(f"{name}: {str(value)[:40]} is there, not {str(acknowledged)[:40]}")

    def close(self):
        for crew in self.crews:
            crew.kill()
            crew.wait()
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)


def must_mount(folder):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0755", "soak", folder], check=True)


def main():
    if os.geteuid() != 0:
        sys.exit("soak: it takes root to be several users")
    if "SOAK_INSIDE" not in os.environ:
        os.environ["SOAK_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, "-B", *sys.argv])
    print(f"soak: {SECONDS / 60:g} minutes, seed {SEED}", flush=True)
    root = tempfile.mkdtemp(prefix="vault-soak-", dir="/tmp")
    os.chmod(root, 0o755)
    os.mkdir(folder := os.path.join(root, "it"), 0o755)
    os.mkdir(os.path.join(folder, "copy"), 0o755)
    soak = Soak(folder)
    failures = []
    try:
        before, after, ends = soak.run()
        keys = sorted({key for end in ends for key in end["counts"]})
        counts = {key: sum(end["counts"].get(key, 0) for end in ends) for key in keys}
        print("soak: clients:", ", ".join(f"{count:,} {key}" for key, count in counts.items()))
        print("soak: the daemon:", ", ".join(f"{count} {name}" for name, count in soak.counts.items()))
        for key, room in (("memory", MEMORY_ROOM), ("descriptors", 0), ("store", SIZE_ROOM * before["store"])):
            print(f"soak: {key}: {before[key]:,} before, {after[key]:,} after")
            if after[key] > before[key] + room and (key == "descriptors" or SECONDS >= WARM_SECONDS):
                failures.append(f"{key} has grown")
        print(f"soak: the store's log: {before['log']:,} before, {after['log']:,} after")
        if after["log"] > LOG:
            failures.append("the log is too long")
    except Exception as error:
        failures.append(repr(error))
        for name in ("log",):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                print("".join(open(path).readlines()[-20:]))
    finally:
        soak.close()
        subprocess.run(["umount", soak.disk])
        shutil.rmtree(root, ignore_errors=True)
    print("soak: " + ("FAILED: " + "; ".join(failures) if failures else "nothing that was acknowledged is lost"))
    sys.exit(bool(failures))


main()
