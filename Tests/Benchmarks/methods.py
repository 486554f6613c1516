"""What others wait beside each method of the interface: a Status, and a Get.

The tables name every method: one that the interface has and the tables have not ends the benchmarks."""

import os, re, subprocess, time
from fairness import PROBED, SENDERS, Probe, Process, filled, judged_both, prepared, unlock
from granting import Machine
from holding import stream
from report import BIN, ROUNDS
from world import PASSWORD, Vault

ASKED = 200
# The same of what reads the whole log, or all deposits, each time, and replies in parts.
READS = {"Audit": 10, "Verify": 10, "Deposits": 10}
# The users who leave deposits that are kept aside, and how many each: nearly as many bytes as a vault keeps.
DEPOSITORS, LEFT_BY_EACH, LEFT_SIZE = range(5001, 5009), 7, (1 << 20) - 4096
KEYS = (("key", "sign", "p256"), ("hash", "mac", "hmac"))
# What each method is called with, or the parts that measure it. `{n}` is a number that grows. See also EXCHANGES.
CALLS = {
    "Status": {}, "Get": {"name": "large"}, "Show": {"name": "kept"}, "History": {"name": "kept"},
    "Find": {"query": "number=7"}, "Children": {"prefix": ""}, "Attributes": {},
    "Set": {"name": "set/{n}", "value": "v" * 64}, "Copy": {"from": "kept", "to": "copied", "replace": True},
    "Move": {"from": "nowhere", "to": "there"}, "Delete": {"names": ["set/{n}"]}, "Undelete": {"name": "set/{n}"},
    "RestoreVersion": {"name": "kept", "version": 1}, "EmptyTrash": {}, "Code": {"name": "none"},
    "Sign": {"name": "key", "value": "v" * 1000}, "Mac": {"name": "hash", "value": "v" * 1000},
    "IssueToken": {"name": "tokens", "subject": "lamp-17"}, "VerifyToken": {"name": "tokens", "token": "x.y.z"},
    "RevokeToken": {"name": "tokens", "subject": "s{n}"}, "PublicKey": {"name": "tokens", "format": "jwks"},
    "Deposit": {"name": "left/{n}", "value": "v"}, "SealDeposit": {"name": "left", "value": "v"},
    "DepositSealed": {"box": "AAAA"}, "Deposits": {}, "SettleDeposit": {"number": 1, "accept": False},
    "Generate": {"recipe": {"style": "phrase", "length": 12}}, "Receipt": {"name": "kept", "version": 1, "succeeded": True},
    "ListSlots": {}, "MarkStale": {}, "Can": {"right": "get", "name": "kept"}, "WhoMay": {"name": "kept"}, "Grants": {},
    "Rights": {"subject": "user:5001"},
    "Grant": {"subject": "user:5001", "items": "granted/{n}", "rights": ["get"]},
    "Revoke": {"subject": "user:5001", "items": "granted/{n}"}, "ConfirmGrants": {},
    "ForgetSubject": {"subject": "unit:none.service"}, "RepairAudit": {}, "RepairClock": {}, "Requests": {}, "Approve": {"number": 1, "lasts": "once"},
    "Deny": {"number": 1}, "Refuse": {"number": 1}, "ForgetDenial": {"subject": "user:5001", "name": "none"}, "Audit": {}, "Verify": {},
    "Reload": {}, "SecretService": {}, "JoinBus": {"address": "unix:path=/none"},
    "Confirm": {"inquiry": 1}, "Dismiss": {"inquiry": 1}, "Respond": {"conversation": "none"}, "Lock": {},
    "ImportCollection": {"label": "{n}", "source": "/{n}", "trial": True}, "Export": {"to": "nowhere", "items": 0},
    "ImportItems": {"items": [{"collection": "login", "source": "/{n}", "label": "{n}", "content_type": "",
                               "attributes": [{"key": "number", "value": "{n}"}], "value": "v"}]},
    "SetMany": "fairness computing", "Monitor": "fairness",
}


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
    with vault.connect() as connection:
        while "rekey" in vault.ask(connection, "Status", {}):
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


def beside_calls(vault, method, round):
    load = b"".join(vault.frame(method, numbered(CALLS[method], f"{round}.{n}"), more=method in READS)
                    for n in range(READS.get(method, ASKED)))
    senders, probe = Process(SENDERS, vault.socket, given=([load], True)), Probe(vault)
    senders.tell()
    senders.wait()
    return probe.end()


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
    for method in ("Unlock", "Rekey"):
        judged_both(method, [beside_exchange(sandbox, vault, method, n) for n in range(ROUNDS)])
    vault.stop()


def run(sandbox):
    vault = prepared(sandbox)
    with vault.connect() as connection:
        for name, use, style in KEYS:
            vault.ask(connection, "Set", {"name": name, "use": use, "generate": {"style": style}})
    tables = CALLS.keys() | EXCHANGES.keys()
    if interface(vault) != tables:
        raise RuntimeError(f"methods without a row, or rows without a method: {interface(vault) ^ tables}")
    print(f"\nwhat others wait beside up to {ASKED} calls of each method (ms, the worst of all rounds)")
    for method in [method for method in CALLS if not isinstance(CALLS[method], str) and method != "Lock"] + ["Lock"]:
        judged_both(method, [beside_calls(vault, method, n) for n in range(ROUNDS)])
    unlock(vault)
    print("\nwhat others wait beside an exchange of each other method (ms, the worst of all rounds)")
    for method in EXCHANGES:
        judged_both(method, [beside_exchange(sandbox, vault, method, n) for n in range(ROUNDS)])
    vault.stop()
    beside_kept_deposits(sandbox)
