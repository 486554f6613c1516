"""A vault whose daemon serves the Secret Service on a private bus, for programs that no one here wrote."""

import json, os, shutil, signal, subprocess, tempfile, time

import dbus
import dbus.bus

PASSWORD = "correct horse battery"
NAME, ROOT = "org.freedesktop.secrets", "/org/freedesktop/secrets"
SECRET, DEFAULT = "org.freedesktop.Secret.", ROOT + "/aliases/default"
SETTINGS = "pam-service = vault-interop-none\nsecret-service = on\n"
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={folder}/bus</listen><auth>EXTERNAL</auth>
<servicedir>{folder}/services</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy>
</busconfig>
"""


class Failure(Exception):
    """Tells what went otherwise than it should."""


def check(condition, what):
    if not condition:
        raise Failure(what)


def wait(condition, what, seconds=60):
    """Waits until a condition holds, and returns its value."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        check(time.monotonic() < end, f"waited {seconds} s in vain for {what}")
        time.sleep(0.02)
    return value


class Stand:
    """Has a home, a bus and an unlocked vault of its own, below /tmp."""

    def __init__(self, programs, settings=""):
        self.programs, self.processes, self.daemon, self.agent, self.connection = programs, [], None, None, None
        self.folder = tempfile.mkdtemp(prefix="vault-interop.", dir="/tmp")
        for name in ("home", "run", "data", "config", "config/vault", "cache", "services"):
            os.mkdir(os.path.join(self.folder, name), mode=0o700)
        self.environment = {
            "PATH": programs + ":/usr/local/bin:/usr/bin:/bin", "HOME": self.path("home"), "LC_ALL": "C.UTF-8",
            "XDG_RUNTIME_DIR": self.path("run"), "XDG_DATA_HOME": self.path("data"),
            "XDG_CONFIG_HOME": self.path("config"), "XDG_CACHE_HOME": self.path("cache"),
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + self.path("bus"),
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=" + self.path("no-system-bus"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.write("bus.conf", BUS.format(folder=self.folder))
        self.configure(settings)
        self.start("dbus-daemon", "--nofork", "--config-file=" + self.path("bus.conf"), log="bus.log")
        wait(lambda: os.path.exists(self.path("bus")), "the bus")
        self.begin()
        self.vault("init", "--password-stdin", "--kdf-memory", "19m", "--kdf-passes", "2", stdin=PASSWORD + "\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A daemon that the bus has started is no child of this program.
        pid = self.status("pid")
        if pid and not (self.daemon and self.daemon.poll() is None):
            os.kill(pid, signal.SIGTERM)
        for process in reversed(self.processes):
            self.end(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o600):
        with open(os.open(self.path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        try:
            with open(self.path(name), errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def start(self, *command, log):
        with open(self.path(log), "ab") as output:
            process = subprocess.Popen(command, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=output)
        self.processes.append(process)
        return process

    @staticmethod
    def end(process, by=signal.SIGTERM):
        if process and process.poll() is None:
            process.send_signal(by)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    # --- The vault

    def configure(self, settings):
        self.write("config/vault/vaultd.conf", SETTINGS + settings)

    def has_name(self):
        return "b true" in self.busctl("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "NameHasOwner", "s", NAME)

    def unique_name(self):
        answer = self.busctl("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetNameOwner", "s", NAME)
        return answer.split('"')[1]

    def begin(self):
        """Starts the daemon, and returns when its name is on the bus."""
        self.daemon = self.start(os.path.join(self.programs, "vaultd"), log="daemon.log")
        wait(self.has_name, "the daemon's name on the bus")

    def stop(self, by=signal.SIGTERM):
        self.end(self.daemon, by)

    def serve_on_demand(self):
        """Ends the daemon; the bus starts the next one when a program asks for its name."""
        self.stop()
        self.write(f"services/{NAME}.service", f"[D-BUS Service]\nName={NAME}\nExec={self.programs}/vaultd\n")
        self.busctl("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ReloadConfig")

    def chill(self):
        """Starts the daemon anew, so that nobody has unlocked the vault since its start."""
        self.stop()
        self.begin()

    def vault(self, *words, stdin="", must=True):
        done = subprocess.run([os.path.join(self.programs, "vault"), *words], input=stdin.encode(), capture_output=True,
                              env=self.environment, timeout=60)
        check(done.returncode == 0 or not must, f"vault {words[0]}: {done.stderr.decode().strip()}")
        return done.stdout

    def status(self, key):
        text = self.vault("status", "--json", must=False) if self.is_served() else b""
        return json.loads(text).get(key) if text.strip() else None

    def is_served(self):
        """True while a daemon runs; a command would start one."""
        return self.has_name()

    def unlock(self):
        self.vault("unlock", "--password-stdin", stdin=PASSWORD + "\n")

    def prompts(self):
        return [json.loads(line) for line in self.vault("requests", "--json").splitlines() if b"waits_for" in line]

    def lock_on_bus(self):
        """Locks as a program on the bus does; no item is served there before the next unlock."""
        self.busctl(NAME, ROOT, "org.freedesktop.Secret.Service", "Lock", "ao", "1", ROOT + "/collection/login")

    def busctl(self, *words):
        done = subprocess.run(["busctl", "--address=" + self.environment["DBUS_SESSION_BUS_ADDRESS"], "call", *words],
                              capture_output=True, text=True, env=self.environment, timeout=60)
        return done.stdout

    # --- What is in it, by calls on the bus

    def call(self, path, interface, member, signature="", *values):
        if not self.connection:
            self.connection = dbus.bus.BusConnection(self.environment["DBUS_SESSION_BUS_ADDRESS"])
        return self.connection.call_blocking(NAME, path, interface, member, signature, values)

    def property(self, path, interface, name):
        return self.call(path, "org.freedesktop.DBus.Properties", "Get", "ss", interface, name)

    def create_collection(self, label):
        properties = {SECRET + "Collection.Label": dbus.String(label, variant_level=1)}
        return str(self.call(ROOT, SECRET + "Service", "CreateCollection", "a{sv}s",
                             dbus.Dictionary(properties, signature="sv"), "")[0])

    def create_item(self, collection, label, attributes, secret):
        """Makes a new item, even if there is one with these attributes."""
        session = self.call(ROOT, SECRET + "Service", "OpenSession", "sv", "plain", dbus.String("", variant_level=1))[1]
        properties = {SECRET + "Item.Label": dbus.String(label, variant_level=1),
                      SECRET + "Item.Attributes": dbus.Dictionary(attributes, signature="ss", variant_level=1)}
        value = dbus.Struct((session, dbus.ByteArray(b""), dbus.ByteArray(secret), "text/plain"), signature="oayays")
        path = self.call(collection, SECRET + "Collection", "CreateItem", "a{sv}(oayays)b",
                         dbus.Dictionary(properties, signature="sv"), value, False)[0]
        self.call(session, SECRET + "Session", "Close")
        return str(path)

    def items(self, collection):
        return [str(path) for path in self.property(collection, SECRET + "Collection", "Items")]

    # --- A person

    def attend(self):
        """Starts an agent. A person sees its questions, and types the password once type() is called, or puts them off
        once put_off() is."""
        script = f"""#!/bin/sh
read -r question
printf '%s\\n' "$question" >>{self.path('asked')}
case $question in *'"style":"secret"'*) ;; *) exit 0;; esac
until [ -e {self.path('typed')} ]; do sleep 0.1; done
cat {self.path('typed')}
[ -s {self.path('typed')} ]
"""
        command = self.write("command", script, 0o700)
        self.agent = self.start(os.path.join(self.programs, "vault-agent"), "--faces", "command", "--command", command,
                                log="agent.log")

    def leave(self):
        self.end(self.agent)

    def type(self):
        self.write("typed", PASSWORD + "\n")

    def put_off(self):
        self.write("typed", "")

    def agent_is_idle(self):
        """True if no question is on the screen."""
        return not self.children(self.agent.pid)

    @staticmethod
    def children(pid):
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return file.read().split()

    def asked(self):
        """The number of questions that the person has seen."""
        return self.read("asked").count('"style":"secret"')

    # --- Programs

    def run_until_unlocked(self, *command, **variables):
        """Runs a program that waits for an unlock, unlocks the vault once it prompts, and returns how it ended."""
        process = subprocess.Popen(command, env=self.environment | variables, cwd=self.folder, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.processes.append(process)
        wait(lambda: self.status("prompts") or process.poll() is not None, "the program's prompt")
        check(process.poll() is None, "the program did not wait for an unlock")
        self.unlock()
        output, errors = process.communicate(timeout=30)
        return subprocess.CompletedProcess(command, process.returncode, output, errors)

    def run(self, *command, stdin=None, seconds=120, cwd=None, **variables):
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=seconds,
                              cwd=cwd or self.folder, env=self.environment | variables)
