"""The waits of others beside each method of the interface: of a Status, and of a Get.

The tables name every method: one that the interface has and the tables have not ends the benchmarks."""

import itertools, json, os, re, subprocess, time
from fairness import PROBED, SENDERS, Probe, Process, filled, judged, judged_both, prepared, unlock, waits_of_locks
from granting import Machine
from holding import stream
from report import BIN, ROUNDS
from world import PASSWORD, Vault

ASKED = 200
# The same of methods that read the whole log, or all deposits, each time; of one that stores a MiB each time; and of
# one that makes collections, of which a vault has 256 at most.
TIMES = {"Audit": 10, "Verify": 10, "Deposits": 10, "RestoreVersion": 20, "ImportCollection": min(32, 240 // ROUNDS)}
# The methods that reply in parts.
STREAMED = {"Audit", "Verify", "Deposits", "Children", "Attributes", "Grants", "Requests"}
# The users who leave deposits that are kept aside, and how many each: nearly as many bytes as a vault keeps.
DEPOSITORS, LEFT_BY_EACH, LEFT_SIZE = range(5001, 5009), 7, (1 << 20) - 4096
# The items in the trash that all had one name, and how many of them come out in a round, each to be deleted again.
NAMESAKES, BROUGHT_BACK = 6000, 5
# The users who ask for items, as many in a round as may wait at a time, and how often each may ask at once.
ASKERS, ASKERS_AT_ONCE, ASKED_BY_EACH = itertools.count(20_000), 12, 16
KEYS = (("key", "sign", "p256"), ("hash", "mac", "hmac"))
CODES = (("counter", "otpauth://hotp/bench?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&counter=0"),
         ("clock", "otpauth://totp/bench?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"))


# The methods that act on what was made before, each once: the parameters of all calls of a round.

def of_tokens(vault, round):
    with vault.connect() as connection:
        tokens = [vault.ask(connection, "IssueToken", {"name": "tokens", "subject": "lamp-17"}) for _ in range(ASKED)]
    return [{"name": "tokens", "token": token["token"]} for token in tokens]


def to_seal(vault, round):
    with vault.connect() as connection:
        key = vault.ask(connection, "PublicKey", {})["key"]
    return [{"key": key, "name": "boxed", "value": "v"}] * ASKED


def sealed(vault, round):
    boxes = to_seal(vault, round)
    with vault.connect() as connection:
        return [{"box": vault.ask(connection, "SealDeposit", each)["box"]} for each in boxes]


def to_settle(vault, round):
    """A box that comes a second time is kept aside. Every other one is accepted all the same."""
    with vault.connect() as connection:
        for each in sealed(vault, round):
            for _ in range(2):
                vault.ask(connection, "DepositSealed", each)
    numbers = [deposit["number"] for page in pages(vault, "Deposits") for deposit in page["deposits"]]
    return [{"number": number, "accept": n % 2 == 0} for n, number in enumerate(numbers)]


def to_restore(vault, round):
    with vault.connect() as connection:
        current = max(each["version"] for each in vault.ask(connection, "History", {"name": "kept"})["versions"])
    return [{"name": "kept", "version": current - 1 + n} for n in range(TIMES["RestoreVersion"])]


def to_empty(vault, round):
    names = [f"trash/{round}.{n}" for n in range(ASKED)]
    with vault.connect() as connection:
        vault.ask(connection, "SetMany", {"items": [{"name": name, "value": "v"} for name in names]})
        for name in names:
            vault.ask(connection, "Delete", {"names": [name]})
    return [{}] * ASKED


def requests(vault, round):
    """Has other users ask, each for many items. The approvals of an earlier round make room for those of this one."""
    vault.be_reachable()
    with vault.connect() as connection:
        for number in numbers(vault, "approved"):
            vault.ask(connection, "Deny", {"number": number})
    frames = b"".join(vault.frame("Get", {"name": f"set-0/item-{n}", "reason": "bench"}) for n in range(ASKED_BY_EACH))
    for uid in itertools.islice(ASKERS, ASKERS_AT_ONCE):
        with vault.connect(uid) as connection:
            connection.sendall(frames)
            left = ASKED_BY_EACH
            while left:
                left -= connection.recv(1 << 16).count(b"\0")
    vault.be_private()
    return [{"number": number} for number in numbers(vault, "pending")]


def denials(vault, round):
    with vault.connect() as connection:
        return [vault.ask(connection, "Deny", each) for each in requests(vault, round)]


def pages(vault, method):
    """The replies to a call that replies in parts."""
    with vault.connect() as connection:
        connection.sendall(vault.frame(method, {}, more=True))
        data = b""
        while not data.endswith(b"\0") or json.loads(data[:-1].split(b"\0")[-1]).get("continues"):
            data += connection.recv(1 << 16)
    return [json.loads(page)["parameters"] for page in data[:-1].split(b"\0")]


def numbers(vault, state):
    return [request["number"] for page in pages(vault, "Requests") for request in page["requests"]
            if request["state"] == state]


# The parameters of each method's calls, in turn, or what makes them, or the parts that measure it. `{n}` is a number
# that grows. See also EXCHANGES.
CALLS = {
    "Status": {}, "Get": {"name": "large"}, "Show": {"name": "kept"}, "History": {"name": "kept"},
    "Find": {"query": "number=7"}, "Children": {"prefix": ""}, "Attributes": {},
    "Set": {"name": "set/{n}", "value": "v" * 64}, "Copy": {"from": "kept", "to": "copied", "replace": True},
    "Move": ({"from": "kept", "to": "moved"}, {"from": "moved", "to": "kept"}),
    "Delete": {"names": ["set/{n}"]}, "Undelete": {"name": "set/{n}"},
    "RestoreVersion": to_restore, "EmptyTrash": to_empty, "Code": tuple({"name": name} for name, _ in CODES),
    "Sign": {"name": "key", "value": "v" * 1000}, "Mac": {"name": "hash", "value": "v" * 1000},
    "IssueToken": {"name": "tokens", "subject": "lamp-17"}, "VerifyToken": of_tokens,
    "RevokeToken": {"name": "tokens", "subject": "s{n}"}, "PublicKey": {"name": "key", "format": "jwk"},
    "Deposit": {"name": "left/{n}", "value": "v"}, "SealDeposit": to_seal,
    "DepositSealed": sealed, "Deposits": {}, "SettleDeposit": to_settle,
    "Generate": {"recipe": {"style": "phrase", "length": 12}},
    "Receipt": {"name": "kept", "version": 1, "succeeded": True},
    "ListSlots": {}, "MarkStale": {}, "Can": {"right": "get", "name": "kept"}, "WhoMay": {"name": "kept"}, "Grants": {},
    "Rights": {"subject": "user:5001"},
    "Grant": {"subject": "user:5001", "items": "granted/{n}", "rights": ["get"]},
    "Revoke": {"subject": "user:5001", "items": "granted/{n}"}, "ConfirmGrants": {},
    "ForgetSubject": {"subject": "unit:none.service"}, "RepairAudit": {}, "RepairClock": {}, "Requests": {},
    "Approve": requests, "Deny": requests, "Refuse": {"number": 1}, "ForgetDenial": denials, "Audit": {}, "Verify": {},
    "Reload": {}, "SecretService": {}, "JoinBus": {"address": "unix:path=/none"},
    "Confirm": {"inquiry": 1}, "Dismiss": {"inquiry": 1}, "Respond": {"conversation": "none"}, "Lock": {},
    "ImportCollection": {"label": "{n}", "source": "/{n}"}, "Export": {"to": "nowhere", "items": 0},
    "BeginImport": {"from": "nowhere", "items": 0},
    "ImportItems": {"items": [{"collection": "login", "source": "/{n}", "label": "{n}", "content_type": "",
                               "attributes": [{"key": "number", "value": "{n}"}], "value": "v"}]},
    "SetMany": "fairness computing", "Monitor": "fairness",
}
# The calls that are refused, because there is no login slot here, no confined program, no bus, no prompt and no
# inquiry; and a Lock that waits behind another one, as a lock refuses the calls that wait.
REFUSED = {"MarkStale", "ForgetSubject", "JoinBus", "Refuse", "Confirm", "Dismiss", "Respond", "Lock"}
# The methods for which a person must have shown presence in the last minute.
OF_PRESENCE = {"Grant", "Revoke", "ConfirmGrants", "ForgetSubject", "RepairAudit", "RepairClock", "Approve", "Deny",
               "ForgetDenial"}
# The methods for other users' requests.
OF_OTHERS = {"Approve", "Deny", "ForgetDenial"}


def command(vault, *arguments, input=b""):
    subprocess.run([os.path.join(BIN, "vault"), *arguments], env=vault.environment, input=input, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# The methods that take an exchange. Each prepares it, gives the vault to ask meanwhile, and then does it.

def init(sandbox, vault, n):
    new = sandbox.adopt(Vault(BIN, sandbox.folder(f"init-{n}")))
    yield new
    new.converse("Init", {"kdf_memory": 19 << 20, "kdf_passes": 2, "recovery": True})


def unlock_by_password(sandbox, vault, n):
    vault.lock()
    yield vault
    vault.converse("Unlock", {"method": "password"})


def authenticate(sandbox, vault, n):
    with vault.connect() as connection:
        vault.ask(connection, "Set", {"name": f"guarded-{n}", "value": "v", "require": "password", "reuse": 1})
    # A proof of an unlock counts no longer then.
    time.sleep(1.1)
    yield vault
    vault.converse("Authenticate", {"name": f"guarded-{n}", "interactive": True})


def attend(sandbox, vault, n):
    yield vault
    for _ in range(ASKED):
        with vault.connect() as connection:
            vault.ask(connection, "Attend", {"faces": ["terminal"]}, more=True)


def add_slot(sandbox, vault, n):
    yield vault
    vault.converse("AddSlot", {"kind": "recovery"})


def remove_slot(sandbox, vault, n):
    code = vault.recovery_code
    vault.converse("AddSlot", {"kind": "recovery"})
    with vault.connect() as connection:
        slot = max(slot["id"] for slot in vault.ask(connection, "ListSlots", {})["slots"])
    yield vault
    vault.converse("RemoveSlot", {"id": slot})
    vault.recovery_code = code


def change_password(sandbox, vault, n):
    yield vault
    vault.converse("ChangePassword", {"kdf_memory": 19 << 20, "kdf_passes": 2})


def rekey(sandbox, vault, n):
    yield vault
    vault.converse("Rekey", {})
    await_rekey(vault)


def await_rekey(vault):
    """Waits for the end of a rekey, which rests while the vault is locked."""
    with vault.connect() as connection:
        while "rekey" in (status := vault.ask(connection, "Status", {})) and status["state"] == "unlocked":
            pass


def backup(sandbox, vault, n):
    file = os.path.join(sandbox.folder(f"backup-{n}"), "copy")
    yield vault
    command(vault, "backup", file)


def restore(sandbox, vault, n):
    file = os.path.join(sandbox.folder(f"restore-{n}"), "copy")
    command(vault, "backup", file)
    new = sandbox.adopt(Vault(BIN, sandbox.folder(f"restored-{n}")))
    yield new
    command(new, "restore", "--password-stdin", file, input=PASSWORD.encode())


def salvage(sandbox, vault, n):
    yield vault
    stream(vault, None, "Salvage", {})


EXCHANGES = {
    "Init": init, "Unlock": unlock_by_password, "Authenticate": authenticate, "Attend": attend, "AddSlot": add_slot,
    "RemoveSlot": remove_slot, "ChangePassword": change_password, "Rekey": rekey, "Backup": backup, "Restore": restore,
    "Salvage": salvage,
}


def numbered(value, n):
    if isinstance(value, str):
        return value.replace("{n}", str(n))
    if isinstance(value, list):
        return [numbered(each, n) for each in value]
    return {key: numbered(each, n) for key, each in value.items()} if isinstance(value, dict) else value


def interface(vault):
    with vault.connect() as connection:
        connection.sendall(b'{"method":"org.varlink.service.GetInterfaceDescription",'
                           b'"parameters":{"interface":"io.vaultd.Vault"}}\0')
        return set(re.findall(r"^method (\w+)", vault.answer(connection)["description"], re.M))


def parameters(vault, method, round):
    """Returns the parameters of each call of a round."""
    said = CALLS[method]
    if callable(said):
        return said(vault, round)
    said = said if isinstance(said, tuple) else (said,)
    return [numbered(said[n % len(said)], f"{round}.{n}") for n in range(TIMES.get(method, ASKED))]


def show_presence(vault):
    """Proves to the vault that a person is there, which counts for a minute. The vault is locked first, as it asks for
    no proof while an older one counts."""
    vault.lock()
    vault.converse("Unlock", {"method": "password"})


def beside_calls(vault, method, round):
    if method in OF_PRESENCE:
        show_presence(vault)
    return beside_frames(vault, method, [vault.frame(method, each, more=method in STREAMED)
                                         for each in parameters(vault, method, round)])


def beside_frames(vault, method, frames):
    senders, probe = Process(SENDERS, vault.socket, given=([b"".join(frames)], True)), Probe(vault)
    senders.tell()
    refused, _, first = senders.wait().decode().partition(" ")
    waits = probe.end()
    if int(refused) and method not in REFUSED:
        raise RuntimeError(f"{refused} calls of {method} were refused, whose cost is not that of the method: {first}")
    return waits


def beside_exchange(sandbox, vault, method, round):
    exchange = EXCHANGES[method](sandbox, vault, round)
    probe = Probe(next(exchange))
    for _ in exchange:
        raise RuntimeError(f"{method} has two parts")
    return probe.end()


def kept_deposits(sandbox):
    """A vault with deposits of several users that were kept aside, because there is an item of their name."""
    os.chmod(sandbox.root, 0o711)
    vault = sandbox.adopt(Machine(sandbox.folder("kept-deposits")))
    vault.fill(100)
    vault.be_reachable()
    with vault.connect() as connection:
        for name in (PROBED, "left"):
            vault.ask(connection, "Set", {"name": name, "value": "v" * 64, "kind": "note"})
        for uid in DEPOSITORS:
            vault.ask(connection, "Grant", {"subject": f"user:{uid}", "items": "left", "rights": ["deposit"]})
    for uid in DEPOSITORS:
        with vault.connect(uid) as connection:
            for _ in range(LEFT_BY_EACH):
                vault.ask(connection, "Deposit", {"name": "left", "value": "v" * LEFT_SIZE})
    return vault


def beside_kept_deposits(sandbox):
    if os.geteuid() != 0:
        return print("\nbeside deposits that were kept aside: skipped, it takes root to be several users")
    vault = kept_deposits(sandbox)
    size = len(DEPOSITORS) * LEFT_BY_EACH * LEFT_SIZE >> 20
    print(f"\nwhat others wait beside calls in a vault with {size} MiB of deposits that were kept aside (ms)")
    for method in ("Deposits", "Verify"):
        judged_both(method, [beside_calls(vault, method, n) for n in range(ROUNDS)])
        judged(f"{method}: a lock", waits_of_locks(vault, lambda n: stream(vault, None, method, {})))
    for method in ("Unlock", "Rekey"):
        judged_both(method, [beside_exchange(sandbox, vault, method, n) for n in range(ROUNDS)])
    judged("Unlock: a lock", waits_of_locks(
        vault, lambda n: vault.converse("Unlock", {"method": "password"}), lambda n: vault.lock()))
    judged("Rekey: a lock", waits_of_locks(
        vault, lambda n: list(rekey(sandbox, vault, n)), lambda n: await_rekey(vault)))
    vault.stop()


def beside_namesakes(sandbox):
    vault = sandbox.adopt(Vault(BIN, sandbox.folder("namesakes")))
    vault.fill(100)
    delete = vault.frame("Delete", {"names": ["same"]})
    with vault.connect() as connection:
        vault.ask(connection, "Set", {"name": PROBED, "value": "v" * 64, "kind": "note"})
        for _ in range(NAMESAKES):
            vault.ask(connection, "Set", {"name": "same", "value": "v"})
            vault.ask(connection, "Delete", {"names": ["same"]})
    print(f"\nwhat others wait beside calls about one of {NAMESAKES:,} items in the trash that had its name (ms)")
    loads = {"Undelete": [vault.frame("Undelete", {"name": "same"}), delete],
             "Audit": [vault.frame("Audit", {"item": "same", "last": 1}, more=True)]}
    for method, frames in loads.items():
        judged_both(method, [beside_frames(vault, method, frames * BROUGHT_BACK) for _ in range(ROUNDS)])
    vault.stop()


def run(sandbox):
    vault = prepared(sandbox)
    with vault.connect() as connection:
        for name, use, style in KEYS:
            vault.ask(connection, "Set", {"name": name, "use": use, "generate": {"style": style}})
        for name, value in CODES:
            vault.ask(connection, "Set", {"name": name, "kind": "totp", "value": value})
        # With a grant in force, others come in and may ask.
        vault.ask(connection, "Grant", {"subject": "user:65534", "items": "none/**", "rights": ["get"]})
    os.chmod(sandbox.root, 0o711)
    tables = CALLS.keys() | EXCHANGES.keys()
    if interface(vault) != tables:
        raise RuntimeError(f"methods without a row, or rows without a method: {interface(vault) ^ tables}")
    print(f"\nwhat others wait beside up to {ASKED} calls of each method (ms, the worst of all rounds)")
    for method in [method for method in CALLS if not isinstance(CALLS[method], str) and method != "Lock"] + ["Lock"]:
        if method in OF_OTHERS and os.geteuid() != 0:
            print(f"  {method}: skipped, it takes root to be several users")
            continue
        judged_both(method, [beside_calls(vault, method, n) for n in range(ROUNDS)])
    unlock(vault)
    print("\nwhat others wait beside an exchange of each other method (ms, the worst of all rounds)")
    for method in EXCHANGES:
        judged_both(method, [beside_exchange(sandbox, vault, method, n) for n in range(ROUNDS)])
    vault.stop()
    beside_namesakes(sandbox)
    beside_kept_deposits(sandbox)
