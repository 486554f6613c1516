"""Chromium with its cookies under a key from the vault: they outlive locks, waits, put-off questions and restarts.

A page on loopback sets a cookie; the profile keeps it encrypted with a key that is an item of the vault; the browser
sends it after its next start. Chromium deletes its cookies for good if it once fails to get the key.
"""

import concurrent.futures, contextlib, fcntl, hashlib, http.server, json, os, signal, sqlite3
import subprocess, threading, time

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from stand import DEFAULT, SECRET, Failure, Stand, check, wait

FOLDER, VALUE = "secret-service/login", "kept-by-the-vault"
# None of these browsers looks for anything but this machine.
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
           "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
           "--disable-sync", "--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
           "--remote-debugging-pipe", "--password-store=gnome-libsecret"]


class Site:
    """Sets a cookie at /set, and notes which cookie it is sent at /see."""

    def __init__(self):
        seen = self.seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                if self.path == "/set":
                    self.send_header("Set-Cookie", f"interop={VALUE}; Max-Age=86400; HttpOnly")
                if self.path in ("/set", "/see"):
                    seen.append(self.headers.get("Cookie"))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def pipe():
    """A pipe whose ends have other numbers than 3 and 4."""
    ends = os.pipe()
    moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return moved


class Browser:
    """A browser with the profile of its stand, driven by a pipe."""

    def __init__(self, root, stand):
        self.stand, self.number, self.rest = stand, 0, b""
        to_browser, self.write_end = pipe()
        self.read_end, from_browser = pipe()
        program = os.path.join(root, "usr/lib/chromium/chromium")
        machine = os.uname().machine + "-linux-gnu"
        libraries = ":".join(os.path.join(root, "usr/lib", name) for name in (machine, machine + "/pulseaudio"))
        # The pipe has the numbers 3 and 4 there.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser} {to_browser}<&- {from_browser}>&-'
        with open(stand.path("chromium.log"), "ab") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", script, "bash", program, "--user-data-dir=" + stand.path("profile"), *OPTIONS,
                 "about:blank"],
                env=stand.environment | {"LD_LIBRARY_PATH": libraries}, cwd=stand.folder, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, pass_fds=(to_browser, from_browser))
        stand.processes.append(self.process)
        os.close(to_browser)
        os.close(from_browser)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.write_end)
        os.close(self.read_end)
        self.stand.end(self.process)

    def command(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                part = os.read(self.read_end, 65536)
                check(part, "the browser ended: " + self.stand.read("chromium.log")[-500:])
                self.rest += part
            message, self.rest = self.rest.split(b"\0", 1)
            message = json.loads(message)
            if message.get("id") == self.number:
                check("error" not in message, f"{method}: {message.get('error')}")
                return message["result"]

    def open(self, address):
        self.command("Target.createTarget", url=address)

    def close(self):
        """Ends the browser as a person does, so that it writes its profile."""
        self.command("Browser.close")
        self.process.wait(60)


class Case:
    """A vault, a browser, and a cookie that a page has set."""

    def __init__(self, programs, root, settings=""):
        self.root, self.exits = root, contextlib.ExitStack()
        self.stand = self.exits.enter_context(Stand(programs, settings))
        self.site = Site()
        self.exits.callback(self.site.close)
        with self.browser() as browser:
            browser.open(self.site.address + "/set")
            wait(lambda: self.site.seen, "the page", 60)
            browser.close()
        self.site.seen.clear()
        self.key, = self.keys()
        self.check_profile()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.exits.close()

    def browser(self):
        return Browser(self.root, self.stand)

    def keys(self):
        """The names of the keys of browsers in the vault."""
        return self.stand.vault("list", FOLDER).decode().split()

    def cookies(self):
        """The encrypted cookies in the profile, and the version of the database."""
        paths = [self.stand.path("profile/Default/" + name) for name in ("Cookies", "Network/Cookies")]
        path = next((path for path in paths if os.path.exists(path)), None)
        check(path, "the profile has no cookies")
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            version = int(database.execute("select value from meta where key = 'version'").fetchone()[0])
            return version, database.execute("select host_key, name, value, encrypted_value from cookies").fetchall()

    def check_profile(self):
        """Checks that the cookie is in the profile, encrypted with the key in the vault."""
        version, rows = self.cookies()
        check(len(rows) == 1, f"the profile has {len(rows)} cookies")
        host, name, plain, encrypted = rows[0]
        check((name, plain) == ("interop", ""), f"the profile has the cookie {name}={plain}")
        check(encrypted[:3] == b"v11", f"the cookie's prefix is {encrypted[:3]}")
        key = hashlib.pbkdf2_hmac("sha1", self.stand.vault("get", self.key), b"saltysalt", 1, 16)
        decryptor = Cipher(algorithms.AES(key), modes.CBC(b" " * 16)).decryptor()
        value = decryptor.update(encrypted[3:]) + decryptor.finalize()
        value = value[:-value[-1]]
        if version >= 24:
            check(value[:32] == hashlib.sha256(host.encode()).digest(), "another host's cookie, or another key")
            value = value[32:]
        check(value == VALUE.encode(), "another value, or another key")

    @contextlib.contextmanager
    def waiting(self, seconds=2):
        """A browser that starts now, waits for its key for so long and while the body runs, and then has its cookie."""
        with self.browser() as browser:
            browser.open(self.site.address + "/see")
            wait(lambda: self.stand.status("prompts"), "the browser's prompt", 60)
            time.sleep(seconds)
            check(self.site.seen == [], "the browser did not wait for its key")
            yield
            self.finish(browser)

    def finish(self, browser):
        """Checks that the browser sends the cookie and keeps it."""
        wait(lambda: self.site.seen, "the browser's request", 90)
        check(self.site.seen == ["interop=" + VALUE], f"the browser sent {self.site.seen}")
        browser.close()
        self.site.seen.clear()
        self.check_profile()

    def see(self):
        with self.browser() as browser:
            browser.open(self.site.address + "/see")
            self.finish(browser)


def unlocked(case, long):
    case.see()
    case.see()


def locked(case, long):
    """Answers the agent's question when a call would long have come to its time limit, which is 25 seconds."""
    case.stand.lock_on_bus()
    case.stand.attend()
    with case.waiting(40 if long else 28):
        check(case.stand.asked() == 1, f"the person was asked {case.stand.asked()} times")
        case.stand.type()


def locked_here(case, long):
    case.stand.vault("lock")
    with case.waiting(60 if long else 4):
        case.stand.unlock()


def unanswered(case, long):
    """Unlocks the vault elsewhere after a while in which nobody answered."""
    case.stand.chill()
    case.stand.attend()
    with case.waiting(60 if long else 28):
        case.stand.unlock()


def put_off(case, long):
    """Puts the question off, and answers when it comes again with the next agent."""
    case.stand.chill()
    case.stand.attend()
    with case.waiting():
        wait(case.stand.asked, "the question")
        case.stand.put_off()
        wait(lambda: case.stand.agent_is_idle(), "the end of the question")
        case.stand.leave()
        case.stand.type()
        case.stand.attend()
    check(case.stand.asked() == 2, f"the person was asked {case.stand.asked()} times")


def refused(case, long):
    """Refuses the prompt. The browser then loses its cookies, as `vault refuse` says, so the other cases can fail."""
    case.stand.chill()
    with case.browser() as browser:
        browser.open(case.site.address + "/see")
        prompt = wait(case.stand.prompts, "the browser's prompt", 60)[0]
        case.stand.vault("refuse", str(prompt["number"]), "--yes")
        wait(lambda: case.site.seen, "the browser's request", 60)
        check(case.site.seen == [None], "the browser has its cookie although its prompt was refused")
        browser.close()
    check(case.cookies()[1] == [], "the profile has its cookie although the prompt was refused")


def activated(case, long):
    """Has the bus start the daemon for the browser."""
    case.stand.serve_on_demand()
    with case.waiting(4):
        case.stand.unlock()


def killed(case, long):
    """Kills the daemon during the prompt, and starts it again."""
    case.stand.chill()
    with case.waiting():
        case.stand.stop(signal.SIGKILL)
        case.stand.begin()
        time.sleep(2)
        check(case.site.seen == [], "the browser did not wait for the next daemon")
        case.stand.unlock()


def two_keys(case, long):
    """Makes a second key with the same attributes; the one that was made first is the browser's."""
    item, = case.stand.items(DEFAULT)
    attributes = case.stand.property(item, SECRET + "Item", "Attributes")
    case.stand.create_item(DEFAULT, "another", attributes, b"another key")
    check(len(case.keys()) == 2, "there are not two keys")
    case.see()
    case.stand.chill()
    with case.waiting():
        case.stand.unlock()


# The name of each case, its settings, whether it is run each time, and its function.
CASES = (
    ("unlocked", "", True, unlocked),
    ("locked, and answered later", "", True, locked),
    ("locked by `vault lock`, and unanswered", "secret-service-accessible = when-unlocked\n", True, locked_here),
    ("locked with hidden names, and unanswered", "secret-service-accessible = when-unlocked\nhide-names = true\n", True,
     locked_here),
    ("cold, and unanswered", "", True, unanswered),
    ("put off, and asked again", "", False, put_off),
    ("refused", "", True, refused),
    ("cold, started by the bus", "", True, activated),
    ("the daemon killed while the browser waits", "", True, killed),
    ("two keys", "", True, two_keys),
)


def results(programs, packages, everything):
    """Runs the cases beside each other; each has a vault, a bus and a profile of its own."""
    root = packages.unpacked("chromium", "chromium")

    def result(entry):
        name, settings, _, function = entry
        try:
            with Case(programs, root, settings) as case:
                function(case, everything)
            return name, None
        except (Failure, OSError, subprocess.SubprocessError, sqlite3.Error, IndexError) as error:
            return name, f"{type(error).__name__}: {error}"

    entries = [entry for entry in CASES if everything or entry[2]]
    with concurrent.futures.ThreadPoolExecutor(5) as threads:
        yield from threads.map(result, entries)
