"""What a Status waits beside each method of the interface, asked again and again by one client.

The table names every method: one that the interface has and the table has not ends the benchmarks."""

import re
from fairness import PROBE, SENDERS, Process, judged, prepared, probe_end
from report import ROUNDS

ASKED = 200
# The same of what reads the whole log each time.
READS = {"Audit": 10, "Verify": 10}
KEYS = (("key", "sign", "p256"), ("tokens", "jwt", "ed25519"), ("hash", "mac", "hmac"))
# What each method is called with, or where else it is measured, or why not at all. `{n}` is a number that grows.
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
    "SetMany": "fairness and computing", "Monitor": "fairness", "Attend": "asking", "Authenticate": "requests",
    "Unlock": "store, deposits and computing", "Init": "store", "Backup": "store", "Restore": "store", "Rekey": "store",
    "Salvage": "store",
    "AddSlot": "it waits for a password", "ChangePassword": "it waits for a password",
    "RemoveSlot": "it waits for a password",
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


def wait_of_status(vault, method, round):
    load = b"".join(vault.frame(method, numbered(CALLS[method], f"{round}.{n}"), more=method in ("Audit", "Verify"))
                    for n in range(READS.get(method, ASKED)))
    senders, probe = Process(SENDERS, vault.socket, given=([load], True)), Process(PROBE, vault.socket)
    senders.tell()
    senders.wait()
    return float(probe_end(probe))


def run(sandbox):
    vault = prepared(sandbox)
    with vault.connect() as connection:
        for name, use, style in KEYS:
            vault.ask(connection, "Set", {"name": name, "use": use, "generate": {"style": style}})
    if interface(vault) != set(CALLS):
        raise RuntimeError(f"methods without a row, or rows without a method: {interface(vault) ^ set(CALLS)}")
    print(f"\nwhat a Status waits beside up to {ASKED} calls of each method (ms, the worst of all rounds)")
    for method in [method for method in CALLS if not isinstance(CALLS[method], str) and method != "Lock"] + ["Lock"]:
        judged(f"{method}: a Status", [wait_of_status(vault, method, n) for n in range(ROUNDS)])
    vault.stop()
