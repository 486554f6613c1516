"""screenshot.py PROGRAMS PICTURE: runs a short session of `vault` in a terminal and draws its screen as one SVG.

The vault, its daemon and its settings are in a temporary folder, and are gone afterwards."""

import json, os, shutil, signal, subprocess, sys, tempfile, time
from drawing import draw
from terminal import Terminal

COLUMNS = 88
PASSWORD = "correct horse battery staple"
KEY = "not-a-real-key"
TITLE = "A terminal: vault is unlocked, stores two secrets, gives one to a program, is locked, and asks for a password"

# Each command, with the answers that are typed to its hidden questions. The first ones are not in the picture.
BEFORE = [
    ("vault init --no-recovery --kdf-memory 19m --kdf-passes 2", [PASSWORD, PASSWORD]),
    ("vault lock", []),
    ("clear", []),
]
SESSION = [
    ("vault unlock", [PASSWORD]),
    ("vault set iothome/express.key --kind api-key --attr owner=ana", [KEY, KEY]),
    ("vault set wifi/guests --kind wifi --attr ssid=Guests --generate phrase --expires 90d", []),
    ("vault list", []),
    ("vault get iothome/express.key", []),
    ("vault run --mask -e KEY=iothome/express.key -- sh -c 'echo the key is $KEY'", []),
    ("vault lock", []),
    ("vault status | head -2", []),
    ("vault get iothome/express.key", [PASSWORD]),
]


def environment(programs, folder):
    """Makes the folders of the session, and returns its variables; none leads to the machine's own buses."""
    result = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8", "TZ": "UTC",
              "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={folder}/system-bus",
              "DBUS_SESSION_BUS_ADDRESS": f"unix:path={folder}/bus"}
    for name in ("RUNTIME_DIR", "DATA_HOME", "CONFIG_HOME", "STATE_HOME", "CACHE_HOME"):
        result["XDG_" + name] = os.path.join(folder, name.lower())
        os.mkdir(result["XDG_" + name], 0o700)
    settings = os.path.join(result["XDG_CONFIG_HOME"], "vault")
    os.mkdir(settings, 0o700)
    with open(os.open(os.path.join(settings, "vaultd.conf"), os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        # No such service: the session offers no finger, whatever reader the machine has.
        file.write("pam-service = vault-none\n")
    return result


def end_daemon(programs, surroundings):
    """Ends the daemon that the first command started, if there is one, and waits for its end."""
    command = [os.path.join(programs, "vault"), "status", "--json"]
    outcome = subprocess.run(command, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if outcome.returncode:
        return
    process = json.loads(outcome.stdout)["pid"]
    os.kill(process, signal.SIGTERM)
    for _ in range(200):
        if not is_running(process):
            return
        time.sleep(0.05)
    raise RuntimeError(f"vaultd {process} does not end")


def is_running(process):
    """Decides whether the process has not ended; a zombie has, which nobody may reap in a container."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def main(programs, picture):
    programs = os.path.abspath(programs)
    if not os.access(os.path.join(programs, "vault"), os.X_OK):
        sys.exit(f"screenshot: no vault is in {programs}")
    folder = tempfile.mkdtemp(prefix="vault-picture-", dir="/tmp")
    surroundings = environment(programs, folder)
    try:
        with Terminal(surroundings, COLUMNS) as terminal:
            for command, answers in BEFORE + SESSION:
                terminal.run(command, answers)
            lines = terminal.lines()
        with open(picture, "w") as file:
            file.write(draw(lines, COLUMNS, TITLE))
    finally:
        end_daemon(programs, surroundings)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(*sys.argv[1:3])
