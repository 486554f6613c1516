"""Connections whose process is gone. Runs as the first process of a pid namespace, where it decides about the numbers:

    peers.py VAULTD SOCKET [hide]

starts the daemon, with `hide` under a filter that answers SO_PEERPIDFD as kernels before 6.5 do, and prints one line
for each case: what it is, a colon, and `served` or the error's name.
"""
import ctypes, json, os, platform, signal, socket, struct, subprocess, sys, time

VAULTD, PATH = sys.argv[1:3]
PASSWORD, OTHER = "correct horse battery", "another password"
# The parameters of an Argon2id that takes so long that a process has ended before it is done.
COST = {"kdf_memory": 128 << 20, "kdf_passes": 10}


def hide():
    """Has getsockopt(_, SOL_SOCKET, SO_PEERPIDFD) fail with ENOPROTOOPT from now on, in what is executed too."""
    number = {"x86_64": 55, "aarch64": 209}[platform.machine()]

    def unless(value, skip):
        return (0x15, 0, skip, value)

    program = [(0x20, 0, 0, 0), unless(number, 5), (0x20, 0, 0, 24), unless(socket.SOL_SOCKET, 3), (0x20, 0, 0, 32),
               unless(77, 1), (0x06, 0, 0, 0x00050000 | 92), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
    filter = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    if ctypes.CDLL(None).prctl(22, 2, filter, 0, 0):
        sys.exit("no seccomp filter")


def send(client, method, parameters, more=False):
    call = {"method": "io.vaultd.Vault." + method, "parameters": parameters}
    if more:
        call["more"] = True
    try:
        client.sendall(json.dumps(call).encode() + b"\0")
    except BrokenPipeError:
        pass  # Refused already: the answer is there.


def receive(client):
    text = b""
    while not text.endswith(b"\0"):
        byte = client.recv(1)
        if not byte:
            return {"error": "closed"}
        text += byte
    return json.loads(text[:-1])


def short(reply):
    return reply.get("error", "served").replace("io.vaultd.Vault.", "")


def ask(client, method, **parameters):
    send(client, method, parameters)
    return short(receive(client))


def connection():
    client = socket.socket(socket.AF_UNIX)
    client.connect(PATH)
    return client


def converse(method, **parameters):
    client = connection()
    send(client, method, parameters, more=True)
    while True:
        reply = receive(client)
        if "error" in reply or "prompt" not in reply["parameters"]:
            return short(reply)
        prompt = reply["parameters"]["prompt"]
        ask(connection(), "Respond", conversation=reply["parameters"]["conversation"], number=prompt["number"],
            answer=prompt.get("code", OTHER if prompt["style"] == "new-secret" and "kind" in parameters else PASSWORD))


def slots():
    client = connection()
    send(client, "ListSlots", {})
    return [slot["id"] for slot in receive(client)["parameters"]["slots"]]


def status():
    client = connection()
    send(client, "Status", {})
    return receive(client)["parameters"]


class Process:
    """A child that runs `work`, says what came of it, and waits to be ended. It ends with this process at the
    latest."""

    def __init__(self, work):
        done, self.turn = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.write(done[1], f"{work()}\n".encode())
            os.read(self.turn[0], 1)
            os._exit(0)
        self.result = os.read(done[0], 100).decode().strip()

    def end(self, reap=True):
        os.write(self.turn[1], b"x")
        os.waitid(os.P_PID, self.pid, os.WEXITED | (0 if reap else os.WNOWAIT))


def reuse(pid, work=lambda: ""):
    """A process that has the number `pid`, which is free."""
    while True:
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(pid - 1))
        process = Process(work)
        if process.pid == pid:
            return process
        process.end()


def passed(end, stopped=False, forgotten=False):
    """Returns the answer to us over the connection of a process that `end` did something to.

    The daemon was `stopped` when it connected and until the end, or has `forgotten` the process, since it served
    another.
    """
    client = socket.socket(socket.AF_UNIX)
    if stopped:
        daemon.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, daemon.pid, os.WSTOPPED)
    process = Process(lambda: client.connect(PATH))
    if not stopped:
        assert ask(client, "Status") == "served"
    end(process)
    if stopped:
        daemon.send_signal(signal.SIGCONT)
    if forgotten:
        assert ask(connection(), "Status") == "served"
    return ask(client, "Status")


def end_and_reuse(process):
    # The start times that tell the two apart have the clock's ticks.
    time.sleep(2 / os.sysconf("SC_CLK_TCK"))
    process.end()
    reuse(process.pid)


def waiting():
    """Returns the answer to a call that waits for the unlock, and whose process has ended meanwhile."""
    client = socket.socket(socket.AF_UNIX)
    process = Process(lambda: client.connect(PATH))
    send(client, "Get", {"name": "open", "wait_ms": 60000})
    # Sent after it and answered, so the call waits by now.
    assert ask(connection(), "Status") == "served"
    process.end()
    assert converse("Unlock") == "served"
    return short(receive(client))


def deriving(method, /, *answers, **parameters):
    """Returns the last answer to a call whose process ends while Argon2id runs on the last of `answers`."""
    client = socket.socket(socket.AF_UNIX)
    process = Process(lambda: client.connect(PATH))
    send(client, method, parameters, more=True)
    for answer in answers:
        reply = receive(client)
        while reply["parameters"]["prompt"]["style"] in ("info", "error"):
            reply = receive(client)
        assert ask(connection(), "Respond", conversation=reply["parameters"]["conversation"],
                   number=reply["parameters"]["prompt"]["number"], answer=answer) == "served"
    process.end()
    reply = receive(client)
    while "error" not in reply and reply["parameters"].get("prompt", {}).get("style") in ("info", "error"):
        reply = receive(client)
    return short(reply)


def going_on(method, parameters, **flags):
    """Returns the last answer to a call that has begun to be answered when its process ends."""
    client, call = socket.socket(socket.AF_UNIX), {"method": "io.vaultd.Vault." + method, "parameters": parameters}
    # Small, so that much is still to be sent when it ends.
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    process = Process(lambda: client.connect(PATH))
    client.sendall(json.dumps(call | flags).encode() + b"\0")
    reply = receive(client)
    while method == "Rekey" and "prompt" in reply["parameters"]:
        prompt = reply["parameters"]["prompt"]
        if prompt["style"] not in ("info", "error"):
            ask(connection(), "Respond", conversation=reply["parameters"]["conversation"], number=prompt["number"],
                answer=prompt.get("code", PASSWORD))
        reply = receive(client)
    # Meanwhile nothing goes on.
    daemon.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, daemon.pid, os.WSTOPPED)
    process.end()
    daemon.send_signal(signal.SIGCONT)
    rest = b""
    # An answer that went on to its end would leave the connection open.
    client.settimeout(60)
    try:
        while part := client.recv(1 << 18):
            rest += part
    except TimeoutError:
        return "served to the end"
    if method == "Backup":
        # Blocks come before the last word, each behind its length; the one of none ends them.
        while count := struct.unpack("<I", rest[:4])[0]:
            rest = rest[4 + count:]
        rest = rest[4:]
    return short(json.loads(rest[:-1].split(b"\0")[-1]))


def without_leader(start, *works):
    """The number of a session whose leader has ended, and what each of `works` gives in a process of it."""
    turns, done = [os.pipe() for _ in works], os.pipe()

    def begin():
        os.setsid()
        for work, turn in zip(works, turns):
            if os.fork() == 0:
                os.read(turn[0], 1)
                os.write(done[1], f"{os.getpid()} {work()}".encode())
                os._exit(0)

    leader, results = start(begin), []
    leader.end()
    for turn in turns:
        os.write(turn[1], b"x")
        pid, result = os.read(done[0], 100).decode().split()
        os.waitpid(int(pid), 0)
        results.append(result)
    return leader.pid, results


def led(start, work):
    """The number of a session, and what `work` gives in its leader, which has ended then."""

    def lead():
        os.setsid()
        return work()

    leader = start(lead)
    leader.end()
    return leader.pid, leader.result


def unlock_and_get():
    return converse("Unlock", **{"for": 3600}) + "," + get()


def get():
    return ask(connection(), "Get", name="guarded")


ready = os.pipe()
daemon = subprocess.Popen(
    [VAULTD, "--ready-fd", str(ready[1])], pass_fds=[ready[1]], preexec_fn=hide if sys.argv[3:] else None)
os.read(ready[0], 1)

for name, end in [("alive", lambda process: None), ("ended", Process.end),
                  ("zombie", lambda process: process.end(False)), ("reused", end_and_reuse)]:
    print(f"{name}: {passed(end)}")
    print(f"{name} before the accept: {passed(end, stopped=True)}")
    print(f"{name} and forgotten: {passed(end, forgotten=True)}")

print("deriving Init:", deriving("Init", PASSWORD, **COST), status()["state"])
assert converse("Init", kdf_memory=19 << 20, kdf_passes=2) == "served"
assert converse("Unlock") == "served"
assert ask(connection(), "Set", name="open", value="o") == "served"
assert ask(connection(), "Set", name="guarded", value="g", require="password", reuse=3600) == "served"
assert ask(connection(), "Lock") == "served"
print("waiting:", waiting())
session, results = without_leader(Process, unlock_and_get, get)
print("of a session without leader:", *results)
print("of a later one of the same number:", *without_leader(lambda work: reuse(session, work), get)[1])
# Argon2id took longer than a tick of the clock that tells the two apart.
session, result = led(Process, unlock_and_get)
print("of a session:", result)
print("of a later session of the same number:", led(lambda lead: reuse(session, lead), get)[1])

print("deriving AddSlot:", deriving("AddSlot", PASSWORD, OTHER, kind="password", **COST), slots())
print("deriving ChangePassword:", deriving("ChangePassword", PASSWORD, OTHER, **COST),
      converse("Unlock", **{"for": 3600}))
recovery = connection()
send(recovery, "AddSlot", {"kind": "recovery"}, more=True)
while "prompt" in (reply := receive(recovery))["parameters"]:
    prompt = reply["parameters"]["prompt"]
    code = prompt.get("code", PASSWORD)
    ask(connection(), "Respond", conversation=reply["parameters"]["conversation"], number=prompt["number"], answer=code)
assert converse("AddSlot", kind="password", **COST) == "served"
answer = deriving("Rekey", code, "", OTHER, method="recovery")
print("deriving Rekey:", answer, status().get("rekey"), slots())
assert ask(connection(), "Lock") == "served"
print("deriving Unlock:", deriving("Unlock", OTHER), status()["state"])
assert converse("Unlock") == "served"
assert converse("RemoveSlot", id=3) == "served"

for start in range(0, 3000, 120):
    items = [{"name": f"{index}/" + "n" * 200, "value": "v" * 400} for index in range(start, start + 120)]
    assert ask(connection(), "SetMany", items=items) == "served"
for method, parameters, flags in [
        ("Find", {}, {"more": True}), ("Verify", {}, {"more": True}), ("Salvage", {}, {"more": True}),
        ("Backup", {}, {"upgrade": True}), ("Rekey", {}, {"more": True})]:
    print(f"going on {method}: {going_on(method, parameters, **flags)}")
