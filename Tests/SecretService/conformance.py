#!/usr/bin/python3
"""Asks a Secret Service what it answers, and compares that with the Secret Service API Draft 0.2.

    conformance.py [--lock COMMAND] [--unlock COMMAND] [--restart COMMAND] [--many COUNT] [--patience SECONDS]

The service on the session bus must be unlocked, and have a default collection whose items may go. There is a line for
each question: `ok`, or `differs` and the answer, or `refused` and the name of the error where an answer was expected.
The table at the end counts them by topic. The commands lock, unlock and restart the service from outside; without
them, what happens after an unlock or a restart is not asked. The topic `limits` is about limits of vault that the
draft leaves open.
"""

import argparse
import collections
import hashlib
import hmac
import os
import subprocess
import sys
import time

import dbus
import dbus.bus
import dbus.lowlevel
import dbus.mainloop.glib
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from gi.repository import GLib

NAME, ROOT, SECRET = "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret."
SERVICE, COLLECTION, ITEM = SECRET + "Service", SECRET + "Collection", SECRET + "Item"
SESSION, PROMPT, PROPERTIES = SECRET + "Session", SECRET + "Prompt", "org.freedesktop.DBus.Properties"
AGREED = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
DEFAULT = ROOT + "/aliases/default"
# The second group of RFC 2409, section 6.2.
PRIME = int(
    "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404ddef9519b3cd3a431b"
    "302b0a6df25f14374fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7edee386bfb5a899fa5ae9f24117c4b1fe6"
    "49286651ece65381ffffffffffffffff", 16)

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
counts = collections.defaultdict(collections.Counter)
# The time for which a signal is awaited, in seconds.
patience = 3.0


class Refusal:
    """The short name of an error that was the answer. Each part of it, and whatever is asked with it, is that again."""

    def __init__(self, name):
        self.name = name.removeprefix("org.freedesktop.").replace("Secret.Error.", "")

    def __repr__(self):
        return self.name

    def __getitem__(self, _):
        return self

    def __iter__(self):
        yield self


def refusal(*values):
    """The first of these that is a refusal; None if there is none."""
    return next((value for value in values if isinstance(value, Refusal)), None)


def connect():
    return dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])


def plain(value):
    """The value in Python's own types."""
    if isinstance(value, dbus.Boolean):
        return bool(value)
    if isinstance(value, dbus.Array) and value.signature == "y":
        return bytes(value)
    if isinstance(value, tuple):
        return tuple(plain(part) for part in value)
    if isinstance(value, list):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {plain(key): plain(part) for key, part in value.items()}
    return int(value) if isinstance(value, int) else str(value)


def call(path, interface, member, signature="", *values, on=None, seconds=20):
    if refused := refusal(path, *values):
        return refused
    try:
        return plain((on or bus).call_blocking(NAME, path, interface, member, signature, values, timeout=seconds))
    except dbus.DBusException as error:
        return Refusal(error.get_dbus_name())
    except (TypeError, ValueError):
        return Refusal("an earlier answer of other types")


def service(member, signature, *values, on=None):
    return call(ROOT, SERVICE, member, signature, *values, on=on)


def get(path, interface, name, on=None):
    return call(path, PROPERTIES, "Get", "ss", interface, name, on=on)


def put(path, interface, name, value):
    return call(path, PROPERTIES, "Set", "ssv", interface, name, value)


def bytes_of(data):
    return dbus.Array(data, signature="y")


def paths(*all_paths):
    return refusal(*all_paths) or dbus.Array(all_paths, signature="o")


def texts(pairs):
    return dbus.Dictionary(pairs, signature="ss")


def variant(kind, value):
    if kind == "a{ss}":
        return dbus.Dictionary(value, signature="ss", variant_level=1)
    if kind == "ay":
        return dbus.Array(value, signature="y", variant_level=1)
    return {"s": dbus.String, "b": dbus.Boolean, "i": dbus.Int32, "t": dbus.UInt64}[kind](value, variant_level=1)


def secret(session, value, parameters=b"", content_type="text/plain"):
    return refusal(session) or dbus.Struct(
        (session, bytes_of(parameters), bytes_of(value), content_type), signature="oayays")


def properties(label=None, attributes=None, **others):
    all_properties = {ITEM + "." + name: value for name, value in others.items()}
    if label is not None:
        all_properties[ITEM + ".Label"] = variant("s", label)
    if attributes is not None:
        all_properties[ITEM + ".Attributes"] = variant("a{ss}", attributes)
    return dbus.Dictionary(all_properties, signature="sv")


def create(label, attributes, value, replace=False, where=DEFAULT, **others):
    """Makes an item; its path, or what the answer was instead."""
    made = call(where, COLLECTION, "CreateItem", "a{sv}(oayays)b", properties(label, attributes, **others), value,
                replace)
    if isinstance(made, tuple):
        return made[0] if made[1] == "/" and made[0] != "/" else Refusal("a prompt")
    return made


def find(attributes, on=None):
    return service("SearchItems", "a{ss}", texts(attributes), on=on)


def value_of(path, session=None):
    """The value of an item and its content type."""
    found = call(path, ITEM, "GetSecret", "o", session or plain_session)
    return found[2:] if isinstance(found, tuple) else found


def open_agreed(key=None):
    number = int.from_bytes(os.urandom(127), "big")
    answer = service("OpenSession", "sv", AGREED, variant("ay", key or pow(2, number, PRIME).to_bytes(128, "big")))
    if isinstance(answer, Refusal) or key is not None:
        return answer
    if not isinstance(answer[0], bytes):
        return Refusal("no public key")
    shared = pow(int.from_bytes(answer[0], "big"), number, PRIME).to_bytes(128, "big")
    pseudorandom = hmac.new(bytes(32), shared, hashlib.sha256).digest()
    return answer[1], hmac.new(pseudorandom, b"\1", hashlib.sha256).digest()[:16], len(answer[0])


def cipher(key, vector):
    return Cipher(algorithms.AES(key), modes.CBC(vector))


def encrypt(key, vector, data):
    encryptor = cipher(key, vector).encryptor()
    return encryptor.update(data) + encryptor.finalize()


def decrypt(key, vector, data):
    """The value; nothing if it is not encrypted so."""
    try:
        decryptor = cipher(key, vector).decryptor()
        padded = decryptor.update(data) + decryptor.finalize()
        return padded[:-padded[-1]]
    except (TypeError, ValueError, IndexError):
        return None


def padded(data):
    return data + bytes([16 - len(data) % 16]) * (16 - len(data) % 16)


# --- Signals


class Signals:
    """The signals of the service that a connection gets."""

    def __init__(self, connection):
        self.all = []
        connection.add_signal_receiver(self.take, path_keyword="path", member_keyword="member")

    def take(self, *values, path=None, member=None):
        if str(path).startswith(ROOT):
            self.all.append((member, str(path), plain(values)))

    def wait(self, is_found, seconds=None):
        """Waits for a signal; true if it came."""
        end = time.monotonic() + (patience if seconds is None else seconds)
        while time.monotonic() < end:
            while GLib.MainContext.default().iteration(False):
                pass
            if any(is_found(*one) for one in self.all):
                return True
            time.sleep(0.01)
        return False

    def has(self, member, path, *values, seconds=None):
        return self.wait(lambda m, p, v: m == member and p == path and v[:len(values)] == values, seconds)

    def changed(self, path, interface, name, is_right=lambda value: True, seconds=None):
        return self.wait(lambda m, p, v: m == "PropertiesChanged" and p == path and v[0] == interface
                         and name in v[1] and is_right(v[1][name]), seconds)

    def ended(self, prompt, seconds=None):
        """The values of Completed; nothing if it does not come."""
        if refused := refusal(prompt):
            return refused
        self.has("Completed", prompt, seconds=seconds)
        return next((v for m, p, v in self.all if m == "Completed" and p == prompt), None)


# --- Questions


def ask(topic, question, answer, *wanted):
    """Compares an answer with those that are right: values, names of errors, or conditions."""
    def fits(one):
        if callable(one):
            try:
                return not isinstance(answer, Refusal) and one(answer)
            except (TypeError, AttributeError, LookupError):
                # The answer has other types.
                return False
        if isinstance(answer, Refusal):
            return isinstance(one, str) and one.startswith("!") and answer.name == one[1:]
        return type(one) is type(answer) and one == answer

    if any(fits(one) for one in wanted):
        result, rest = "ok", ""
    else:
        result = "refused" if isinstance(answer, Refusal) and not all(
            isinstance(one, str) and one.startswith("!") for one in wanted) else "differs"
        text = repr(answer)
        rest = ": " + (text if len(text) < 100 else text[:100] + "…")
    counts[topic][result] += 1
    print(f"{result:8} {topic}: {question}{rest}", flush=True)
    return answer


INVALID = ("!DBus.Error.InvalidArgs",)
GONE = ("!NoSuchObject", "!DBus.Error.UnknownMethod", "!DBus.Error.UnknownObject")
LIMITS = ("!DBus.Error.LimitsExceeded",)
UNWRITABLE = ("!DBus.Error.PropertyReadOnly", "!DBus.Error.InvalidArgs")
UNKNOWN = ("!DBus.Error.UnknownProperty", "!DBus.Error.UnknownInterface", "!DBus.Error.UnknownMethod",
           "!DBus.Error.InvalidArgs")
NO_SESSION, IS_LOCKED = "!NoSession", "!IsLocked"


def is_path(value):
    return isinstance(value, str) and value.startswith(ROOT + "/collection/") and value.count("/") == 6


def below(alias, item):
    """The path of an item below an alias of its collection."""
    return refusal(item) or f"{ROOT}/aliases/{alias}/" + item.rsplit("/", 1)[1]


def beside(item):
    """The path of no item, in the collection of an item."""
    return refusal(item) or item.rsplit("/", 1)[0] + "/0000000000000000"


def sessions():
    topic = "sessions"
    ask(topic, "plain: an empty text and a path", service("OpenSession", "sv", "plain", variant("s", "")),
        lambda a: a[0] == "" and a[1].startswith(ROOT + "/session/"))
    ask(topic, "plain with bytes as input", service("OpenSession", "sv", "plain", variant("ay", b"")), *INVALID)
    ask(topic, "an unknown algorithm", service("OpenSession", "sv", "rot13", variant("s", "")),
        "!DBus.Error.NotSupported")
    ask(topic, "a public key of 128 bytes is answered with one", open_agreed(),
        lambda a: a[2] == 128)
    for name, number in ("0", 0), ("1", 1), ("p - 1", PRIME - 1), ("p", PRIME), ("p + 1", PRIME + 1):
        size = max(1, (number.bit_length() + 7) // 8)
        ask(topic, "the public key " + name, open_agreed(number.to_bytes(size, "big")), *INVALID)
    for name, number in ("2", 2), ("p - 2", PRIME - 2):
        size = (number.bit_length() + 7) // 8
        ask(topic, "the public key " + name, open_agreed(number.to_bytes(size, "big")), lambda a: True)
    key = (PRIME - 5).to_bytes(128, "big")
    ask(topic, "an empty public key", service("OpenSession", "sv", AGREED, variant("ay", b"")), *INVALID)
    ask(topic, "a public key with a leading zero, as Java sends it", open_agreed(b"\0" + key), lambda a: True)
    ask(topic, "a public key of 129 bytes", open_agreed(b"\1" + key), *INVALID)
    ask(topic, "a public key that is a text", service("OpenSession", "sv", AGREED, variant("s", "x")), *INVALID)
    path = service("OpenSession", "sv", "plain", variant("s", ""))[1]
    item = create("one", {"topic": topic}, secret(path, b"one"))
    ask(topic, "Close", call(path, SESSION, "Close"), "None")
    ask(topic, "Close again", call(path, SESSION, "Close"), NO_SESSION, *GONE)
    ask(topic, "GetSecret in a closed session", value_of(item, path), NO_SESSION)
    ask(topic, "GetSecret in a session that never was", value_of(item, ROOT + "/session/nonex"), NO_SESSION)
    ask(topic, "GetSecret in the session /", value_of(item, "/"), NO_SESSION)
    other = connect()
    ask(topic, "GetSecret in a session of another connection",
        call(item, ITEM, "GetSecret", "o", plain_session, on=other), NO_SESSION)
    ask(topic, "Close of a session of another connection", call(plain_session, SESSION, "Close", on=other),
        NO_SESSION, "!DBus.Error.AccessDenied", *GONE)
    ask(topic, "the session is still there", value_of(item), (b"one", "text/plain"))
    theirs = service("OpenSession", "sv", "plain", variant("s", ""), on=other)[1]
    other.close()
    time.sleep(0.2)
    ask(topic, "a session ends with its connection", value_of(item, theirs), NO_SESSION)
    third = connect()
    many = [service("OpenSession", "sv", "plain", variant("s", ""), on=third) for _ in range(10)]
    ask(topic, "ten sessions of a connection", len({a[1] for a in many if isinstance(a, tuple)}), 10)
    third.close()
    call(item, ITEM, "Delete")


def secrets():
    topic = "secrets"
    agreed = open_agreed()
    path, key = (agreed, bytes(16)) if isinstance(agreed, Refusal) else agreed[:2]
    zeros = bytes(16)
    item = ask(topic, "CreateItem with an encrypted value",
               create("one", {"topic": topic}, secret(path, encrypt(key, zeros, padded(b"one")), zeros)), is_path)
    answer = call(item, ITEM, "GetSecret", "o", path)
    ask(topic, "GetSecret encrypts it", answer if isinstance(answer, Refusal) else
        decrypt(key, answer[1], answer[2]), b"one")
    ask(topic, "GetSecret names the session", answer if isinstance(answer, Refusal) else answer[0], path)
    again = call(item, ITEM, "GetSecret", "o", path)
    ask(topic, "each answer has an initialization vector of its own",
        again if isinstance(again, Refusal) else again[1] != answer[1], True)
    for name, parameters, value in (
            ("an initialization vector of 15 bytes", bytes(15), zeros),
            ("an initialization vector of 17 bytes", bytes(17), zeros),
            ("no initialization vector", b"", zeros),
            ("no block", zeros, b""), ("a part of a block", zeros, bytes(15)),
            ("the padding 0", zeros, encrypt(key, zeros, zeros)),
            ("the padding 17", zeros, encrypt(key, zeros, b"\x11" * 16)),
            ("uneven padding", zeros, encrypt(key, zeros, b"a" * 12 + b"\4\3\4\4"))):
        ask(topic, "SetSecret with " + name,
            call(item, ITEM, "SetSecret", "(oayays)", secret(path, value, parameters)), *INVALID)
    ask(topic, "SetSecret in a plain session with parameters",
        call(item, ITEM, "SetSecret", "(oayays)", secret(plain_session, b"x", zeros)), *INVALID)
    ask(topic, "the value is as before", value_of(item), (b"one", "text/plain"))
    for name, value, content_type in (
            ("an empty value", b"", "text/plain"), ("bytes", b"a\0b\xff", "application/octet-stream"),
            ("another content type", b"x", "application/x-y; a=b"), ("an empty content type", b"x", ""),
            ("1 MiB", b"x" * (1 << 20), "text/plain")):
        call(item, ITEM, "SetSecret", "(oayays)", secret(plain_session, value, b"", content_type))
        ask(topic, name + " is kept", value_of(item), (value, content_type))
    ask(topic, "SetSecret in no session", call(item, ITEM, "SetSecret", "(oayays)", secret("/", b"x")), NO_SESSION)
    call(item, ITEM, "SetSecret", "(oayays)", secret(plain_session, b"before"))
    ask("limits", "a secret of 4 MiB",
        call(item, ITEM, "SetSecret", "(oayays)", secret(plain_session, b"x" * (4 << 20))), *LIMITS)
    ask("limits", "the secret is as it was before that", value_of(item), (b"before", "text/plain"))
    call(item, ITEM, "SetSecret", "(oayays)", secret(plain_session, b"before"))
    second = create("two", {"topic": topic, "n": "2"}, secret(plain_session, b"two"))
    gone = beside(item)

    def many(*items):
        answer = service("GetSecrets", "aoo", paths(*items), plain_session)
        return answer if isinstance(answer, Refusal) else {key: value[2] for key, value in answer.items()}

    ask(topic, "GetSecrets of two, and of one that is not there", many(item, second, gone),
        {item: b"before", second: b"two"})
    ask(topic, "GetSecrets of none", many(), {})
    ask(topic, "GetSecrets of one twice", many(item, item), {item: b"before"})
    ask(topic, "GetSecrets in no session", service("GetSecrets", "aoo", paths(item), ROOT + "/session/nonex"),
        NO_SESSION)
    ask(topic, "GetSecrets of a path below an alias", many(below("login", item)),
        lambda a: list(a.values()) == [b"before"])
    call(item, ITEM, "Delete")
    call(second, ITEM, "Delete")


def items():
    topic = "items"
    before = int(time.time())
    first = ask(topic, "CreateItem", create("one", {"t": "1"}, secret(plain_session, b"one")), is_path)
    second = create("two", {"t": "1"}, secret(plain_session, b"two"))
    ask(topic, "CreateItem makes another with the same attributes", second, lambda a: is_path(a) and a != first)
    ask(topic, "CreateItem with replace replaces the first with these attributes",
        create("three", {"t": "1"}, secret(plain_session, b"three"), True), first)
    ask(topic, "the value is replaced", value_of(first), (b"three", "text/plain"))
    ask(topic, "the label is replaced", get(first, ITEM, "Label"), "three")
    more = create("four", {"t": "1", "u": "2"}, secret(plain_session, b"four"), True)
    ask(topic, "CreateItem with replace and more attributes makes another", more,
        lambda a: is_path(a) and a not in (first, second))
    ask(topic, "a search finds in the order of creation", find({"t": "1"}), ([first, second, more], []))
    ask(topic, "a search by one more attribute", find({"t": "1", "u": "2"}), ([more], []))
    ask(topic, "a search by another value", find({"t": "2"}), ([], []))
    ask(topic, "a search is no search for parts", find({"t": ""}), ([], []))
    ask(topic, "a search for nothing finds all", find({}), lambda a: {first, second, more} <= set(a[0]))
    ask(topic, "a search in a collection", call(DEFAULT, COLLECTION, "SearchItems", "a{ss}", texts({"u": "2"})), [more])
    ask(topic, "no schema is added", find({"t": "1", "xdg:schema": "org.freedesktop.Secret.Generic"}), ([], []))
    odd = {"": "", "a\tb": "c\nd", "é": "e\u0301", "e\u0301": "é", "E-Mail address": "x", "name": "n", "kind": "k"}
    strange = ask(topic, "CreateItem with any attributes", create("lä\tb\n", odd, secret(plain_session, b"odd")),
                  is_path)
    ask(topic, "any attributes are kept", get(strange, ITEM, "Attributes"), odd)
    ask(topic, "any label is kept", get(strange, ITEM, "Label"), "lä\tb\n")
    ask(topic, "a search by an empty key and value", find({"": ""}), ([strange], []))
    ask(topic, "a search by a composed letter", find({"é": "e\u0301"}), ([strange], []))
    ask(topic, "a search by that letter composed otherwise", find({"é": "é"}), ([], []))
    ask(topic, "a schema is an attribute", find({"xdg:schema": "a.b"}), ([], []))
    schema = create("s", {"xdg:schema": "a.b", "s": "1"}, secret(plain_session, b"s"))
    ask(topic, "a search by schema", find({"xdg:schema": "a.b"}), ([schema], []))
    bare = create(None, None, secret(plain_session, b"x"))
    ask(topic, "CreateItem without properties", bare, is_path)
    ask(topic, "its label is empty", get(bare, ITEM, "Label"), "")
    ask(topic, "it has no attributes", get(bare, ITEM, "Attributes"), {})
    ask(topic, "CreateItem with a label of another type",
        create(None, None, secret(plain_session, b"x"), Label=variant("i", 1)), *INVALID)
    ask(topic, "CreateItem with attributes of another type",
        create(None, None, secret(plain_session, b"x"), Attributes=variant("s", "x")), *INVALID)
    ask(topic, "CreateItem in no session", create("w", {}, secret(ROOT + "/session/nonex", b"x")), NO_SESSION)
    ask(topic, "CreateItem in no collection",
        create("w", {}, secret(plain_session, b"x"), where=ROOT + "/collection/nonex"), *GONE)
    ask(topic, "CreateItem with other types", call(DEFAULT, COLLECTION, "CreateItem", "s", "x"),
        "!DBus.Error.UnknownMethod", *INVALID)
    ask("limits", "an attribute of 1 MiB", create("b", {"a": "x" * (1 << 20)}, secret(plain_session, b"x")),
        *LIMITS)
    ask("limits", "10,000 attributes",
        create("b", {str(i): "" for i in range(10_000)}, secret(plain_session, b"x")), *LIMITS)
    ask("limits", "a label of 1 MiB", create("x" * (1 << 20), {}, secret(plain_session, b"x")), *LIMITS)
    everything = call(first, PROPERTIES, "GetAll", "s", ITEM)
    ask(topic, "GetAll", everything if isinstance(everything, Refusal) else set(everything),
        lambda a: {"Locked", "Attributes", "Label", "Created", "Modified"} <= a <= {
            "Locked", "Attributes", "Label", "Created", "Modified", "Type"})
    ask(topic, "Locked", get(first, ITEM, "Locked"), False)
    ask(topic, "Created is the time in seconds", get(first, ITEM, "Created"),
        lambda a: before - 1 <= a <= time.time() + 1)
    ask(topic, "Modified is the time in seconds", get(first, ITEM, "Modified"),
        lambda a: before - 1 <= a <= time.time() + 1)
    put(second, ITEM, "Label", variant("s", "another"))
    ask(topic, "a label can be set", get(second, ITEM, "Label"), "another")
    put(second, ITEM, "Attributes", variant("a{ss}", {"z": "1"}))
    ask(topic, "attributes can be set", get(second, ITEM, "Attributes"), {"z": "1"})
    ask(topic, "a search by the new attributes", find({"z": "1"}), ([second], []))
    ask(topic, "a search by the old attributes", find({"t": "1"}), ([first, more], []))
    ask(topic, "the value stays", value_of(second), (b"two", "text/plain"))
    put(second, ITEM, "Attributes", variant("a{ss}", {}))
    ask(topic, "attributes can be taken away", get(second, ITEM, "Attributes"), {})
    ask(topic, "Locked cannot be set", put(second, ITEM, "Locked", variant("b", True)), *UNWRITABLE)
    ask(topic, "Created cannot be set", put(second, ITEM, "Created", variant("t", 1)), *UNWRITABLE)
    ask(topic, "a label of another type", put(second, ITEM, "Label", variant("i", 1)), *INVALID)
    ask(topic, "an unknown property", get(second, ITEM, "Nonex"), *UNKNOWN)
    ask(topic, "an unknown property cannot be set", put(second, ITEM, "Nonex", variant("s", "")), *UNKNOWN)
    ask(topic, "a property of an unknown interface", get(second, SECRET + "Nonex", "Label"), *UNKNOWN)
    ask(topic, "an unknown method", call(second, ITEM, "Nonex"), "!DBus.Error.UnknownMethod")
    gone = beside(first)
    ask(topic, "a property of no item", get(gone, ITEM, "Label"), *GONE)
    ask(topic, "all properties of no item", call(gone, PROPERTIES, "GetAll", "s", ITEM), *GONE)
    ask(topic, "GetSecret of no item", value_of(gone), *GONE)
    ask(topic, "Delete of no item", call(gone, ITEM, "Delete"), *GONE)
    ask(topic, "Delete", call(more, ITEM, "Delete"), "/")
    ask(topic, "Delete again", call(more, ITEM, "Delete"), *GONE)
    ask(topic, "a deleted item is not found", find({"u": "2"}), ([], []))
    for path in first, second, strange, schema, bare:
        call(path, ITEM, "Delete")


def collections_and_aliases():
    topic = "collections"
    session = ROOT + "/collection/session"
    login = ask(topic, "ReadAlias default", service("ReadAlias", "s", "default"),
                lambda a: a.startswith(ROOT + "/collection/"))
    ask(topic, "ReadAlias session", service("ReadAlias", "s", "session"), session)
    ask(topic, "ReadAlias of an unknown name", service("ReadAlias", "s", "nonex"), "/")
    ask(topic, "ReadAlias of an empty name", service("ReadAlias", "s", ""), "/")
    ask(topic, "Collections", get(ROOT, SERVICE, "Collections"), lambda a: {login, session} <= set(a))
    for alias in "default", "login", "session":
        ask(topic, f"a property at /aliases/{alias}", get(f"{ROOT}/aliases/{alias}", COLLECTION, "Locked"), False)
    ask(topic, "a property at an unknown alias", get(ROOT + "/aliases/nonex", COLLECTION, "Label"), *GONE)
    ask(topic, "a property of no collection", get(ROOT + "/collection/nonex", COLLECTION, "Label"), *GONE)
    ask(topic, "a search in no collection",
        call(ROOT + "/collection/nonex", COLLECTION, "SearchItems", "a{ss}", texts({})), *GONE)
    item = create("one", {"topic": topic}, secret(plain_session, b"one"))
    ask(topic, "Items", get(DEFAULT, COLLECTION, "Items"), lambda a: item in a)
    ask(topic, "an item below an alias", get(below("default", item), ITEM, "Label"),
        "one")
    everything = call(login, PROPERTIES, "GetAll", "s", COLLECTION)
    ask(topic, "GetAll", everything if isinstance(everything, Refusal) else set(everything),
        {"Items", "Label", "Locked", "Created", "Modified"})
    ask(topic, "the label of login can be set", put(login, COLLECTION, "Label", variant("s", "Mine")), "None")
    ask(topic, "it has that label", get(login, COLLECTION, "Label"), "Mine")
    put(login, COLLECTION, "Label", variant("s", "Login"))
    ask(topic, "Locked cannot be set", put(login, COLLECTION, "Locked", variant("b", True)), *UNWRITABLE)
    ask(topic, "SetAlias default to no collection", service("SetAlias", "so", "default", ROOT + "/collection/nonex"),
        *GONE)
    ask(topic, "SetAlias default to what it is", service("SetAlias", "so", "default", login), "None")
    ask(topic, "Introspect of the service",
        call(ROOT, "org.freedesktop.DBus.Introspectable", "Introspect"), lambda a: SERVICE in a)
    ask(topic, "Introspect of a collection",
        call(login, "org.freedesktop.DBus.Introspectable", "Introspect"), lambda a: COLLECTION in a)
    ask(topic, "Introspect of an item",
        call(item, "org.freedesktop.DBus.Introspectable", "Introspect"), lambda a: ITEM in a)
    ask(topic, "Ping", call(ROOT, "org.freedesktop.DBus.Peer", "Ping"), "None")
    ask(topic, "an unknown method", call(ROOT, SERVICE, "Nonex"), "!DBus.Error.UnknownMethod")
    mine = create("s", {"topic": "session"}, secret(plain_session, b"s"), where=session)
    ask(topic, "an item of the session", mine, lambda a: is_path(a) and a.startswith(session))
    ask(topic, "a search finds it", find({"topic": "session"}), ([mine], []))
    ask(topic, "its value", value_of(mine), (b"s", "text/plain"))
    ask(topic, "CreateItem replaces there, too",
        create("s2", {"topic": "session"}, secret(plain_session, b"s2"), True, where=session), mine)
    ask(topic, "it is deleted", call(mine, ITEM, "Delete"), "/")
    call(item, ITEM, "Delete")
    return login


def signals():
    topic = "signals"
    get(DEFAULT, COLLECTION, "Items")
    login = service("ReadAlias", "s", "default")
    heard = Signals(bus)
    item = create("one", {"topic": topic}, secret(plain_session, b"one"))
    get(item, ITEM, "Label")
    ask(topic, "ItemCreated", heard.has("ItemCreated", login, item), True)
    ask(topic, "PropertiesChanged of Items with the new one",
        heard.changed(login, COLLECTION, "Items", lambda a: item in a), True)
    heard.all.clear()
    call(item, ITEM, "SetSecret", "(oayays)", secret(plain_session, b"two"))
    ask(topic, "ItemChanged at SetSecret", heard.has("ItemChanged", login, item), True)
    heard.all.clear()
    put(item, ITEM, "Label", variant("s", "two"))
    ask(topic, "ItemChanged at a new label", heard.has("ItemChanged", login, item), True)
    ask(topic, "PropertiesChanged of Label", heard.changed(item, ITEM, "Label", lambda a: a == "two"), True)
    heard.all.clear()
    put(item, ITEM, "Attributes", variant("a{ss}", {"topic": "s", "x": ""}))
    ask(topic, "PropertiesChanged of Attributes",
        heard.changed(item, ITEM, "Attributes", lambda a: a == {"topic": "s", "x": ""}), True)
    heard.all.clear()
    create("three", {"topic": "s", "x": ""}, secret(plain_session, b"three"), True)
    ask(topic, "a signal at a replacement",
        heard.wait(lambda m, p, v: m in ("ItemChanged", "ItemCreated") and p == login and v == (item,)), True)
    heard.all.clear()
    call(item, ITEM, "Delete")
    ask(topic, "ItemDeleted", heard.has("ItemDeleted", login, item), True)
    ask(topic, "PropertiesChanged of Items without it",
        heard.changed(login, COLLECTION, "Items", lambda a: item not in a), True)
    heard.all.clear()
    put(login, COLLECTION, "Label", variant("s", "Mine"))
    ask(topic, "CollectionChanged at a new label", heard.has("CollectionChanged", ROOT, login), True)
    ask(topic, "PropertiesChanged of a collection's Label",
        heard.changed(login, COLLECTION, "Label", lambda a: a == "Mine"), True)
    put(login, COLLECTION, "Label", variant("s", "Login"))


def locks(lock, unlock):
    topic = "locks"
    login = service("ReadAlias", "s", "default")
    item = create("one", {"topic": topic}, secret(plain_session, b"one"))
    alias = below("default", item)
    unknown = ROOT + "/collection/nonex"

    def unlock_all(*all_paths):
        return service("Unlock", "ao", paths(*all_paths))

    ask(topic, "Unlock of what is open repeats the paths", unlock_all(DEFAULT, login, item, alias),
        ([DEFAULT, login, item, alias], "/"))
    ask(topic, "Unlock of nothing", unlock_all(), ([], "/"))
    ask(topic, "Unlock of no collection", unlock_all(unknown), ([], "/"))
    ask(topic, "Lock of nothing locks nothing", service("Lock", "ao", paths()), ([], "/"))
    ask(topic, "Lock of no collection locks nothing", service("Lock", "ao", paths(unknown)), ([], "/"))
    ask(topic, "the item is open", get(item, ITEM, "Locked"), False)
    get(login, COLLECTION, "Locked")
    heard = Signals(bus)
    ask(topic, "Lock of a collection", service("Lock", "ao", paths(DEFAULT)), ([DEFAULT], "/"))
    ask(topic, "PropertiesChanged of the collection's Locked",
        heard.changed(login, COLLECTION, "Locked", lambda a: a is True), True)
    ask(topic, "CollectionChanged", heard.has("CollectionChanged", ROOT, login), True)
    ask(topic, "the item's Locked", get(item, ITEM, "Locked"), True)
    ask(topic, "the collection's Locked", get(login, COLLECTION, "Locked"), True)
    ask(topic, "Lock again", service("Lock", "ao", paths(DEFAULT)), ([DEFAULT], "/"))
    ask(topic, "ReadAlias", service("ReadAlias", "s", "default"), login)
    ask(topic, "Collections", get(ROOT, SERVICE, "Collections"), lambda a: login in a)
    ask(topic, "the collection's label", get(login, COLLECTION, "Label"), "Login")
    ask(topic, "a search finds it as locked", find({"topic": topic}), lambda a: a[0] == [] and len(a[1]) == 1)
    ask(topic, "GetSecret", value_of(item), IS_LOCKED)
    ask(topic, "GetSecrets leaves it out", service("GetSecrets", "aoo", paths(item), plain_session), {})
    ask(topic, "CreateItem", create("l", {}, secret(plain_session, b"x")), IS_LOCKED)
    ask(topic, "SetSecret", call(item, ITEM, "SetSecret", "(oayays)", secret(plain_session, b"x")), IS_LOCKED)
    ask(topic, "a label cannot be set", put(item, ITEM, "Label", variant("s", "q")), IS_LOCKED)
    ask(topic, "attributes cannot be set", put(item, ITEM, "Attributes", variant("a{ss}", {})), IS_LOCKED)
    ask(topic, "a collection's label cannot be set", put(login, COLLECTION, "Label", variant("s", "q")), IS_LOCKED)
    ask(topic, "OpenSession", service("OpenSession", "sv", "plain", variant("s", "")), lambda a: True)
    ask(topic, "Unlock of no collection while locked", unlock_all(unknown), ([], "/"))
    other = connect()
    prompts(unlock_all, other, login, item)
    if unlock:
        after_unlock(unlock_all, unlock, lock, login, item, alias, other)
    ask("collections", "login is not deleted", call(login, COLLECTION, "Delete"), IS_LOCKED,
        "!DBus.Error.NotSupported")


def prompts(unlock_all, other, login, item):
    topic = "prompts"

    def is_prompt(answer):
        return answer[0] == [] and answer[1].startswith(ROOT + "/prompt/")

    path = ask(topic, "Unlock of a locked item", unlock_all(item), is_prompt)[1]
    ask(topic, "Prompt by another connection", call(path, PROMPT, "Prompt", "s", "", on=other),
        "!DBus.Error.AccessDenied", *GONE)
    ask(topic, "Dismiss by another connection", call(path, PROMPT, "Dismiss", on=other),
        "!DBus.Error.AccessDenied", *GONE)
    heard = Signals(bus)
    ask(topic, "Dismiss", call(path, PROMPT, "Dismiss"), "None")
    ask(topic, "Completed: dismissed, with an empty array", heard.ended(path), (True, []))
    ask(topic, "Prompt after Dismiss", call(path, PROMPT, "Prompt", "s", ""), *GONE)
    ask(topic, "Dismiss after Dismiss", call(path, PROMPT, "Dismiss"), *GONE)
    ask(topic, "Prompt of no prompt", call(ROOT + "/prompt/nonex", PROMPT, "Prompt", "s", ""), *GONE)
    two = unlock_all(login), unlock_all(login)
    ask(topic, "two calls of Unlock make prompts", all(is_prompt(one) for one in two), True)
    for one in {answer[1] for answer in two}:
        call(one, PROMPT, "Dismiss")
    made = service("CreateCollection", "a{sv}s", dbus.Dictionary(
        {COLLECTION + ".Label": variant("s", "mine")}, signature="sv"), "")
    ask(topic, "CreateCollection while locked", made, lambda a: a[0] == "/" and a[1].startswith(ROOT + "/prompt/"))
    call(made[1], PROMPT, "Dismiss")
    ask(topic, "Completed: dismissed, with no collection", heard.ended(made[1]), (True, "/"))


def after_unlock(unlock_all, unlock, lock, login, item, alias, other):
    topic = "unlocks"
    heard = Signals(bus)
    others = [other] + [connect() for _ in range(7)]
    theirs = [Signals(one) for one in others]
    asked = unlock_all(alias, DEFAULT)
    begun = time.monotonic()
    ask(topic, "Prompt", call(asked[1], PROMPT, "Prompt", "s", ""), "None")
    ask(topic, "the prompt waits", heard.ended(asked[1], seconds=2), None)
    waiting = [find({"topic": "locks"}, on=one)[1] for one in others]
    wishes = [service("Unlock", "ao", paths(*found), on=one)[1] for one, found in zip(others, waiting)]
    for one, prompt in zip(others, wishes):
        call(prompt, PROMPT, "Prompt", "s", "", on=one)
    quiet, got = connect(), []
    get(login, COLLECTION, "Locked", on=quiet)
    mute = service("Unlock", "ao", paths(login), on=quiet)[1]
    quiet.add_message_filter(
        lambda _, message: got.append(message.get_member()) if str(message.get_path()).startswith(ROOT)
        and message.get_type() == dbus.lowlevel.MESSAGE_TYPE_SIGNAL else None)
    call(mute, PROMPT, "Prompt", "s", "", on=quiet)
    subprocess.run(unlock, shell=True, check=True, stdout=subprocess.DEVNULL)
    ask(topic, "Completed after an unlock elsewhere, with the paths as they were asked for", heard.ended(asked[1]),
        lambda a: a is not None and a[0] is False and set(a[1]) == {alias, DEFAULT})
    ask(topic, "Completed for eight other connections, of one unlock",
        [signals.ended(prompt) for signals, prompt in zip(theirs, wishes)], [(False, found) for found in waiting])
    ask(topic, "nobody is told of another's prompt", [
        sum(m == "Completed" for m, _, _ in signals.all) for signals in [heard] + theirs], [1] * 9)
    heard.wait(lambda *_: False, seconds=0.3)
    # go-keyring takes the first signal that its connection gets for the end of its prompt.
    ask(topic, "a program that listens to nothing is told of its prompt at most", got, [], ["Completed"])
    for one in others[1:] + [quiet]:
        one.close()
    ask(topic, "PropertiesChanged of the collection's Locked",
        heard.changed(login, COLLECTION, "Locked", lambda a: a is False), True)
    ask(topic, "the prompt is gone", call(asked[1], PROMPT, "Prompt", "s", ""), *GONE)
    ask(topic, "the value", value_of(item), (b"one", "text/plain"))
    ask(topic, "the session from before the lock goes on", value_of(item, plain_session), (b"one", "text/plain"))
    ask(topic, "the attributes", get(item, ITEM, "Attributes"), {"topic": "locks"})
    made = service("CreateCollection", "a{sv}s", dbus.Dictionary(
        {COLLECTION + ".Label": variant("s", "Ours")}, signature="sv"), "")
    if isinstance(made, tuple) and made[0] == "/":
        call(made[1], PROMPT, "Prompt", "s", "")
        ended = heard.ended(made[1], seconds=10)
        made = (ended[1], "/") if ended else made
    path = ask(topic, "CreateCollection", made, lambda a: a[0].startswith(ROOT + "/collection/"))
    path = path[0] if isinstance(path, tuple) and path[0] != "/" else ROOT + "/collection/nonex"
    ask(topic, "CollectionCreated", heard.has("CollectionCreated", ROOT, path), True)
    ask(topic, "PropertiesChanged of Collections",
        heard.changed(ROOT, SERVICE, "Collections", lambda a: path in a), True)
    ask(topic, "its label", get(path, COLLECTION, "Label"), "Ours")
    put(path, COLLECTION, "Label", variant("s", "Others"))
    ask(topic, "its label can be set", get(path, COLLECTION, "Label"), "Others")
    ask(topic, "CollectionChanged", heard.has("CollectionChanged", ROOT, path), True)
    inside = create("in", {"in": "1"}, secret(plain_session, b"in"), where=path)
    ask(topic, "an item in it", inside, lambda a: is_path(a) and a.startswith(path))
    ask(topic, "a search in another collection does not find it",
        call(login, COLLECTION, "SearchItems", "a{ss}", texts({"in": "1"})), [])
    ask(topic, "a search in all does", find({"in": "1"}), ([inside], []))
    ask(topic, "replace stays in its collection",
        create("in", {"in": "1"}, secret(plain_session, b"out"), True), lambda a: is_path(a) and a != inside)
    ask(topic, "SetAlias default", service("SetAlias", "so", "default", path), "None")
    ask(topic, "ReadAlias default", service("ReadAlias", "s", "default"), path)
    ask(topic, "the path of the alias is the other collection's", get(DEFAULT, COLLECTION, "Label"), "Others")
    service("SetAlias", "so", "default", login)
    heard.all.clear()
    ask(topic, "Delete of the collection", call(path, COLLECTION, "Delete"), "/")
    ask(topic, "CollectionDeleted", heard.has("CollectionDeleted", ROOT, path), True)
    ask(topic, "PropertiesChanged of Collections without it",
        heard.changed(ROOT, SERVICE, "Collections", lambda a: path not in a), True)
    ask(topic, "its items are gone", value_of(inside), *GONE)
    ask(topic, "a property of it", get(path, COLLECTION, "Label"), *GONE)
    if lock:
        subprocess.run(lock, shell=True, check=True, stdout=subprocess.DEVNULL)
        ask(topic, "a lock from outside: the collection's Locked is told",
            heard.wait(lambda m, p, v: m in ("PropertiesChanged", "CollectionChanged")), True)
        subprocess.run(unlock, shell=True, check=True, stdout=subprocess.DEVNULL)


def restarts(restart, unlock):
    topic = "restarts"
    login = service("ReadAlias", "s", "default")
    item = create("kept", {"topic": topic}, secret(plain_session, b"kept"))
    passing = create("passing", {"topic": "passing"}, secret(plain_session, b"p"), where=ROOT + "/collection/session")
    # A service that could not be unlocked has made none.
    item, passing = (path if is_path(path) else ROOT + "/collection/login/nonex" for path in (item, passing))
    heard = Signals(bus)

    def again(*commands):
        for command in commands:
            subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)

    again(restart)
    ask(topic, "the default collection has its path", service("ReadAlias", "s", "default"), login)
    ask(topic, "a search does not answer that there is nothing", find({"topic": topic}),
        lambda found: found[0] == [] and len(found[1]) == 1)
    asked = service("Unlock", "ao", paths(item))
    ask(topic, "Unlock of an item", asked, lambda a: a[0] == [] and a[1].startswith(ROOT + "/prompt/"))
    asked = asked[1]
    call(asked, PROMPT, "Prompt", "s", "")
    again(restart, unlock)
    ask(topic, "a prompt from before ends with what was asked for", heard.ended(asked, seconds=10), (False, [item]))
    ask(topic, "a session from before is gone", value_of(item), NO_SESSION)
    session = service("OpenSession", "sv", "plain", variant("s", ""))[1]
    ask(topic, "an item has its path and its value", value_of(item, session), (b"kept", "text/plain"))
    ask(topic, "a search finds it", find({"topic": topic}), ([item], []))
    ask(topic, "an item of the collection session is gone", value_of(passing, session), *GONE)


def many(count):
    topic = "many items"
    made = [create(str(i), {"many": "1", "number": str(i)}, secret(plain_session, str(i).encode()))
            for i in range(count)]
    ask(topic, "Items", get(DEFAULT, COLLECTION, "Items"), lambda a: set(made) <= set(a))
    ask(topic, "a search finds all in the order of creation", find({"many": "1"}) == (made, []), True)
    ask(topic, "a search finds one", find({"many": "1", "number": str(count // 2)}), ([made[count // 2]], []))
    found = service("GetSecrets", "aoo", paths(*made), plain_session)
    ask(topic, "GetSecrets of all", {path: value[2] for path, value in found.items()} == {
        path: str(i).encode() for i, path in enumerate(made)} if isinstance(found, dict) else found, True)
    get(DEFAULT, COLLECTION, "Items")
    heard = Signals(bus)
    login = service("ReadAlias", "s", "default")
    for path in made:
        call(path, ITEM, "Delete")
    ask(topic, "PropertiesChanged of Items at last",
        heard.changed(login, COLLECTION, "Items", lambda a: not set(made) & set(a)), True)
    ask(topic, "ItemDeleted of each", sum(m == "ItemDeleted" for m, _, _ in heard.all), count)


def table():
    print(f"\n{'':12}{'ok':>8}{'differs':>9}{'refused':>9}")
    total = collections.Counter()
    for topic, results in counts.items():
        total.update(results)
        print(f"{topic:12}{results['ok']:8}{results['differs']:9}{results['refused']:9}")
    print(f"{'all':12}{total['ok']:8}{total['differs']:9}{total['refused']:9}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lock", help="a command that locks the service")
    parser.add_argument("--unlock", help="a command that unlocks the service")
    parser.add_argument("--restart", help="a command that restarts the service, which is locked then")
    parser.add_argument("--many", type=int, default=0, help="ask also about so many items")
    parser.add_argument("--patience", type=float, default=patience, help="the seconds for which a signal is awaited")
    options = parser.parse_args()
    patience = options.patience
    bus = connect()
    plain_session = service("OpenSession", "sv", "plain", variant("s", ""))[1]
    sessions()
    secrets()
    items()
    collections_and_aliases()
    signals()
    if options.many:
        many(options.many)
    locks(options.lock, options.unlock)
    if options.restart and options.unlock:
        restarts(options.restart, options.unlock)
    table()
    sys.exit(0)
