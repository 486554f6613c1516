"""The servers of the benchmarks: a vault, the C echo, and a gnome-keyring on a bus of its own."""

import glob, json, os, re, shutil, signal, socket, subprocess, tempfile, time

PASSWORD = "bench-password-0123"
# The name of the Secret Service on the bus.
SECRETS = "org.freedesktop.secrets"


def clean_environment(folder):
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8"}
    for name in ("RUNTIME_DIR", "DATA_HOME", "CONFIG_HOME", "CACHE_HOME"):
        environment["XDG_" + name] = os.path.join(folder, name.split("_")[0].lower())
        os.makedirs(environment["XDG_" + name], mode=0o700)
    # Nothing here reaches the machine's own buses.
    environment["DBUS_SYSTEM_BUS_ADDRESS"] = f"unix:path={folder}/system-bus"
    environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={folder}/bus"
    return environment


def voluntary_switches(pid):
    """Counts the times that any thread of the process went to sleep by itself, that is, had been awake."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        with open(path) as file:
            total += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M)[1])
    return total


class Server:
    """A child process that is ended by its id."""

    process = None

    def start(self, command, **options):
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)
        return self.process

    @property
    def pid(self):
        return self.process.pid

    def pin(self, cpus):
        for task in os.listdir(f"/proc/{self.pid}/task"):
            os.sched_setaffinity(int(task), cpus)

    def resident_bytes(self):
        with open(f"/proc/{self.pid}/status") as file:
            return int(re.search(r"VmRSS:\s+(\d+) kB", file.read())[1]) * 1024

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(10)


class Echo(Server):
    def __init__(self, programs, folder, reply_bytes):
        self.socket = os.path.join(folder, "echo")
        self.command = [os.path.join(programs, "echo"), self.socket, str(reply_bytes)]

    def open(self):
        self.start(self.command, stdout=subprocess.PIPE)
        self.process.stdout.readline()


class PresentUser:
    """A PAM service that says yes, and writes down when. PAM reads no other folder than /etc/pam.d, so it needs
    root."""

    def __init__(self, folder):
        self.name = f"vault-bench-{os.getpid()}"
        self.path = "/etc/pam.d/" + self.name
        self.stamp = os.path.join(folder, "yes")
        self.script = os.path.join(folder, "yes.sh")

    @staticmethod
    def is_possible():
        return os.geteuid() == 0

    def open(self):
        with open(self.script, "w") as file:
            file.write(f"#!/bin/sh\nexec date +%s%N >{self.stamp}\n")
        os.chmod(self.script, 0o700)
        with open(self.path, "w") as file:
            file.write(f"auth required pam_exec.so quiet {self.script}\naccount required pam_permit.so\n")

    def said_yes_at(self):
        with open(self.stamp) as file:
            return int(file.read())

    def stop(self):
        if os.path.exists(self.path):
            os.unlink(self.path)


class Vault(Server):
    """A vaultd with a vault of its own, spoken to over the protocol alone."""

    recovery_code = None

    def __init__(self, binaries, folder, settings=""):
        self.environment = clean_environment(folder)
        self.socket = os.path.join(self.environment["XDG_RUNTIME_DIR"], "vault", "socket")
        config = os.path.join(folder, "vaultd.conf")
        with open(config, "w") as file:
            file.write("idle = off\nmax-requests-per-second = 10000000\n" + settings)
        os.chmod(config, 0o600)
        self.command = [os.path.join(binaries, "vaultd"), "--config", config]
        self.store = os.path.join(self.environment["XDG_DATA_HOME"], "vault", "vault.db")

    def open(self):
        reader, writer = os.pipe()
        self.start(self.command + ["--ready-fd", str(writer)], env=self.environment, pass_fds=[writer])
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)

    def connect(self, uid=None):
        """A connection, of another user where one is named: the kernel tells of the effective uid."""
        connection = socket.socket(socket.AF_UNIX)
        if uid is not None:
            os.seteuid(uid)
        try:
            connection.connect(self.socket)
        finally:
            if uid is not None:
                os.seteuid(0)
        return connection

    def be_reachable(self):
        """Has other users reach the socket: a vault of the machine has it so by itself."""
        self.set_modes(0o711, 0o666)

    def be_private(self):
        """Has the owner alone reach the socket again: `vault` talks to no other."""
        self.set_modes(0o700, 0o600)

    def set_modes(self, folders, socket):
        folder = self.socket
        while (folder := os.path.dirname(folder)) not in ("/", "/tmp"):
            os.chmod(folder, folders)
        os.chmod(self.socket, socket)

    @staticmethod
    def frame(method, parameters, more=False):
        request = {"method": "io.vaultd.Vault." + method, "parameters": parameters}
        if more:
            request["more"] = True
        return json.dumps(request).encode() + b"\0"

    def ask(self, connection, method, parameters, more=False):
        connection.sendall(self.frame(method, parameters, more))
        return self.answer(connection)

    def answer(self, connection):
        data = b""
        while not data.endswith(b"\0"):
            part = connection.recv(65536, socket.MSG_PEEK)
            if not part:
                raise ConnectionError("vaultd closed the connection")
            # Another reply may follow, which stays for the next call.
            data += connection.recv(part.find(b"\0") + 1 or len(part))
        answer = json.loads(data[:-1])
        if "error" in answer:
            raise RuntimeError(answer)
        return answer.get("parameters") or {}

    def converse(self, method, parameters, secret=PASSWORD):
        """Answers every prompt with the secret, and types back a recovery code that it is shown. Seconds from the last
        answer to the end."""
        answered = time.perf_counter()
        with self.connect() as talk, self.connect() as side:
            reply = self.ask(talk, method, parameters, more=True)
            while prompt := reply.get("prompt"):
                self.recovery_code = prompt.get("code") or self.recovery_code
                if prompt["style"] not in ("info", "error"):
                    answer = {"conversation": reply["conversation"], "answer": prompt.get("code") or secret}
                    # Daemons before 2026-12 give prompts no number, and accept none.
                    if "number" in prompt:
                        answer["number"] = prompt["number"]
                    answered = time.perf_counter()
                    self.ask(side, "Respond", answer)
                reply = self.answer(talk)
            return time.perf_counter() - answered

    def lock(self):
        with self.connect() as connection:
            self.ask(connection, "Lock", {})

    def fill(self, count):
        self.converse("Init", {"kdf_memory": 19 << 20, "kdf_passes": 2})
        with self.connect() as connection:
            if self.ask(connection, "Status", {})["state"] != "unlocked":
                self.converse("Unlock", {"method": "password"})
            items = [{"name": f"bench/item-{i:03}", "value": f"{i:064}", "kind": "api-key",
                      "attributes": {"number": str(i)}} for i in range(count)]
            for first in range(0, count, 100):
                self.ask(connection, "SetMany", {"items": items[first:first + 100]})
            for item in items:
                assert self.ask(connection, "Get", {"name": item["name"]})["value"] == item["value"]


class MessageBus(Server):
    """A bus at `name` in `folder`, which starts no program but a vault of its own, if it is given one."""

    def __init__(self, folder, name, vault=None):
        self.path, self.vault = os.path.join(folder, name), vault

    def open(self):
        services = ""
        if self.vault:
            os.mkdir(self.path + ".services")
            with open(os.path.join(self.path + ".services", f"{SECRETS}.service"), "w") as file:
                file.write(f"[D-BUS Service]\nName={SECRETS}\nExec={' '.join(self.vault.command)} --activated\n")
            services = f"<servicedir>{self.path}.services</servicedir>"
        with open(self.path + ".conf", "w") as file:
            file.write(f"""<busconfig><type>session</type><listen>unix:path={self.path}</listen>{services}
              <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
              <allow own="*"/></policy></busconfig>""")
        self.start(["dbus-daemon", "--config-file", self.path + ".conf", "--nofork", "--print-address"],
                   stdout=subprocess.PIPE, env=self.vault.environment if self.vault else None)
        self.process.stdout.readline()


class Desktop(Server):
    """The two buses a daemon in `folder` listens to, with logind and a screen locker on them."""

    def __init__(self, folder):
        self.buses = [MessageBus(folder, name) for name in ("system-bus", "bus")]

    def open(self):
        for bus in self.buses:
            bus.open()
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "desktop.py")
        # Debian's own, for which Debian's modules are made.
        self.start(["/usr/bin/python3", "-B", program, *(f"unix:path={bus.path}" for bus in self.buses)],
                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def await_inhibitor(self):
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("vaultd takes no inhibitor")

    def sleep(self):
        """Milliseconds from the signal to the inhibitor's end; returns when the machine is awake again."""
        self.process.stdin.write("sleep\n")
        self.process.stdin.flush()
        result = float(self.process.stdout.readline())
        self.await_inhibitor()
        return result

    def stop(self):
        super().stop()
        for bus in self.buses:
            bus.stop()


def call_bus(environment, member, name):
    """Returns the bus's own answer about a name, as dbus-send prints it."""
    return subprocess.run(
        ["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
         f"org.freedesktop.DBus.{member}", f"string:{name}"],
        env=environment, stdout=subprocess.PIPE, check=True).stdout


def await_name(environment, name=SECRETS):
    for _ in range(2000):
        if b"boolean true" in call_bus(environment, "NameHasOwner", name):
            return
        time.sleep(0.05)
    raise RuntimeError(f"nobody takes the name {name} on the bus")


class Keyring(Server):
    """gnome-keyring with an encrypted keyring of `count` items, on a bus without service directories."""

    def __init__(self, folder, count):
        self.folder, self.count = folder, count
        self.environment = clean_environment(folder)
        self.bus = MessageBus(folder, "bus")
        self.item, self.value = "item-42", self.value_of(42)

    def value_of(self, number):
        return f"{number:064}".encode()

    def open(self):
        self.bus.open()
        self.start(["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"], env=self.environment,
                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.process.stdin.write(PASSWORD.encode())
        self.process.stdin.close()
        await_name(self.environment)
        self.fill()

    def fill(self):
        for i in range(self.count):
            subprocess.run(["secret-tool", "store", f"--label=item {i}", "name", f"item-{i}"],
                           input=self.value_of(i), env=self.environment, check=True)
        files = glob.glob(os.path.join(self.folder, "**", "*.keyring"), recursive=True)
        for path in files:
            with open(path, "rb") as file:
                if self.value in file.read():
                    raise RuntimeError("the keyring is not encrypted; the comparison would be unfair")
        if not files:
            raise RuntimeError("gnome-keyring keeps no keyring")

    def stop(self):
        super().stop()
        self.bus.stop()


class LargeKeyring(Keyring):
    """gnome-keyring with more items than can be stored one by one: it finds them in a keyring in the clear."""

    def fill(self):
        pass

    def attributes_of(self, number):
        return {"name": f"item-{number}"}

    def open(self):
        folder = os.path.join(self.environment["XDG_DATA_HOME"], "keyrings")
        os.mkdir(folder, mode=0o700)
        with open(os.path.join(folder, "bench.keyring"), "w") as file:
            file.write("[keyring]\ndisplay-name=bench\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n")
            for i in range(self.count):
                file.write(f"\n[{i + 1}]\nitem-type=0\ndisplay-name=item {i}\nsecret={self.value_of(i).decode()}\n"
                           "mtime=0\nctime=0\n")
                for j, (name, value) in enumerate(self.attributes_of(i).items()):
                    file.write(f"\n[{i + 1}:attribute{j}]\nname={name}\ntype=string\nvalue={value}\n")
        super().open()

    def unlock_times(self, rounds):
        """Milliseconds; encrypts the keyring before."""
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keyring.py")
        command = ["/usr/bin/python3", "-B", program, f"unix:path={self.bus.path}", PASSWORD, str(rounds)]
        times = json.loads(subprocess.run(command, env=self.environment, check=True, stdout=subprocess.PIPE).stdout)
        with open(os.path.join(self.folder, "data", "keyrings", "bench.keyring"), "rb") as file:
            if not file.read().startswith(b"GnomeKeyring") or times[0] == 0:
                raise RuntimeError("the keyring is not encrypted; the comparison would be unfair")
        return times


class Sandbox:
    """A temporary folder; on the way out everything adopted is ended, then the folder goes."""

    def __enter__(self):
        self.root = tempfile.mkdtemp(prefix="vb-", dir="/tmp")
        self.adopted = []
        return self

    def folder(self, name):
        path = os.path.join(self.root, name)
        os.mkdir(path, 0o700)
        return path

    def adopt(self, server):
        self.adopted.append(server)
        server.open()
        return server

    def adopt_echo(self, programs, reply_bytes):
        return self.adopt(Echo(programs, self.root, reply_bytes))

    def __exit__(self, *_):
        for server in reversed(self.adopted):
            server.stop()
        shutil.rmtree(self.root, ignore_errors=True)
