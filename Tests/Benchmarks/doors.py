"""The doors that other programs know: `vault run` and `vault inject`, git's credential helper, and credentials of
units."""

import json, os, statistics, subprocess, sys, time
from granting import Machine
from report import BIN, PROGRAMS, ROUNDS, line, measure, ratio
from world import Keyring, Vault

ITEM, VALUES = "bench/item-042", 100


def running(vault):
    print("\na program with a secret in its environment, as a whole process (ms)")
    client, environment = os.path.join(BIN, "vault"), vault.environment | {"VAULT_SOCKET": vault.socket}
    pairs = []
    for _ in range(ROUNDS):
        with_it, alone, get = measure("processes", 30, client, "run", "-e", f"TOKEN={ITEM}", "--", "/bin/true",
                                      "vs", "/bin/true", "vs", client, "get", ITEM, env=environment)
        pairs.append((with_it["median"] - alone["median"], get["median"]))
    value, added, get = ratio(pairs)
    line("added by vault run to a start of true", added, unit="ms")
    line("vault get", get, unit="ms")
    line("what vault run adds, to vault get", value, "<= 2", value <= 2, "x")


def injecting(vault, folder):
    print(f"\na file with {VALUES} values")
    environment = vault.environment | {"VAULT_SOCKET": vault.socket}
    template, output, trace = (os.path.join(folder, name) for name in ("template", "output", "trace"))
    with open(template, "w") as file:
        file.writelines(f'key-{i} = {{{{ vault "bench/item-{i:03}" }}}}\n' for i in range(VALUES))
    command = [os.path.join(BIN, "vault"), "inject", "-i", template, "-o", output]
    subprocess.run(["strace", "-f", "-e", "trace=connect", "-o", trace, *command], env=environment, check=True)
    with open(output) as file:
        written = file.read()
    if written != "".join(f"key-{i} = {i:064}\n" for i in range(VALUES)):
        sys.exit(f"bench: inject wrote something else: {written[:200]}")
    with open(trace) as file:
        connections = sum("AF_UNIX" in call for call in file)
    line("connections", connections, "== 1", connections == 1)
    client, pairs = os.path.join(BIN, "vault"), []
    for _ in range(ROUNDS):
        # The file is another one each time: one that is right already is left alone.
        all_of_them, one = measure("processes", 10, "sh", "-c", f'rm -f {output}; exec "$@"', "sh", *command, "vs",
                                   "sh", "-c", f'rm -f {output}; exec "$@"', "sh", client, "get", ITEM, env=environment)
        pairs.append((all_of_them["median"], one["median"]))
    value, all_of_them, one = ratio(pairs)
    line(f"vault inject of {VALUES} values", all_of_them, unit="ms")
    line("the same to a vault get of one", value, unit="x")


def gits_helper(sandbox, vault):
    print("\ngit's credential helpers: get, as a whole process (ms)")
    folder = sandbox.folder("git")
    ask = "protocol=https\nhost=git.example\nusername=ana\n\n"
    store = ask.rstrip("\n") + "\npassword=hunter2\n\n"
    question = os.path.join(folder, "question")
    with open(question, "w") as file:
        file.write(ask)
    ours = os.path.join(folder, "git-credential-vault")
    os.symlink(os.path.join(BIN, "vault"), ours)
    keyring = sandbox.adopt(Keyring(sandbox.folder("git-keyring"), 100))
    cache = os.path.join(folder, "cache", "socket")
    path = subprocess.run(["git", "--exec-path"], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
    environment = keyring.environment | {"VAULT_SOCKET": vault.socket, "PROCESSES_INPUT": question}
    helpers = {"vault": [ours], "libsecret": [os.path.join(PROGRAMS, "git-credential-libsecret")],
               "git's cache": [os.path.join(path, "git-credential-cache"), "--socket", cache]}
    for name, command in helpers.items():
        # The cache's daemon goes on in the background with what it was given.
        subprocess.run([*command, "store"], input=store, env=environment, check=True, text=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        said = subprocess.run([*command, "get"], input=ask, env=environment, check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        if "password=hunter2\n" not in said:
            sys.exit(f"bench: the helper of {name} says {said!r}")
    for name in "libsecret", "git's cache":
        pairs = []
        for _ in range(ROUNDS):
            mine, theirs = measure("processes", 20, *helpers["vault"], "get", "vs", *helpers[name], "get",
                                   env=environment)
            pairs.append((mine["median"], theirs["median"]))
        value, mine, theirs = ratio(pairs)
        line(f"git-credential-vault, beside {name}", mine, unit="ms")
        line(f"{name}", theirs, unit="ms")
        line(f"{name} to git-credential-vault", 1 / value, unit="x")
    subprocess.run([*helpers["git's cache"], "exit"], env=environment, stdin=subprocess.DEVNULL, check=False)


CONNECTS = """
import json, os, socket, sys, time
place, path, unit, count = sys.argv[1:]
with open(place, "w") as processes: processes.write(str(os.getpid()))
times = []
for number in range(int(count)):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.bind(f"\\0{number:x}b/unit/{unit}/key")
        begun = time.perf_counter()
        connection.connect(path)
        connection.shutdown(socket.SHUT_WR)
        value = b""
        while part := connection.recv(65536): value += part
        times.append((time.perf_counter() - begun) * 1e3)
        assert len(value) == 64, len(value)
print(json.dumps(times))
"""


def credentials(sandbox):
    print("\na credential, from the service manager's connect to its end (ms)")
    roots = [path for path in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
             if os.access(path + "/cgroup.procs", os.W_OK)]
    if os.geteuid() != 0 or not roots:
        return print("  skipped: a process of a unit has a cgroup, which root makes")
    vault = sandbox.adopt(Machine(sandbox.folder("credentials")))
    vault.fill(VALUES)
    unit = f"vault-bench-{os.getpid()}.service"
    with vault.connect() as connection:
        vault.ask(connection, "Grant",
                  {"subject": f"unit:{unit}", "items": ITEM, "rights": ["get"], "credential": "key"})
    slice = roots[0] + "/system.slice"
    is_new = not os.path.exists(slice)
    os.makedirs(f"{slice}/{unit}")
    try:
        said = subprocess.run([sys.executable, "-c", CONNECTS, f"{slice}/{unit}/cgroup.procs",
                               os.path.join(os.path.dirname(vault.socket), "credentials"), unit, str(100 * ROUNDS)],
                              check=True, stdout=subprocess.PIPE, text=True).stdout
    finally:
        os.rmdir(f"{slice}/{unit}")
        if is_new:
            os.rmdir(slice)
    times = json.loads(said)
    line("median", statistics.median(times), unit="ms")
    worst = max(times)
    line(f"worst of {len(times)}", worst, "< 5", worst < 5, "ms")


def run(sandbox):
    vault = sandbox.adopt(Vault(BIN, sandbox.folder("doors")))
    vault.fill(VALUES)
    running(vault)
    injecting(vault, sandbox.folder("inject"))
    gits_helper(sandbox, vault)
    credentials(sandbox)
