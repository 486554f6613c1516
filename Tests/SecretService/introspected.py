#!/usr/bin/python3
"""Uses a Secret Service through libsecret: introspected.py UNLOCK, where UNLOCK is a command that unlocks the service.

Prints `done`, or ends with what was wrong.
"""

import os
import subprocess
import sys

import gi

gi.require_version("Secret", "1")
from gi.repository import GLib, Secret

UNLOCK = sys.argv[1]
SCHEMA = Secret.Schema.new("org.example.Test", Secret.SchemaFlags.NONE, {
    "text": Secret.SchemaAttributeType.STRING, "number": Secret.SchemaAttributeType.INTEGER,
    "flag": Secret.SchemaAttributeType.BOOLEAN})
NAMELESS = Secret.Schema.new("org.example.Other", Secret.SchemaFlags.DONT_MATCH_NAME, {
    "text": Secret.SchemaAttributeType.STRING})
loop = GLib.MainLoop()


def same(got, wanted):
    if got != wanted:
        raise AssertionError(f"{got!r}, not {wanted!r}")


def later(begin, finish, *arguments):
    """Calls a function in its form that does not wait, and returns what its end returns."""
    ended = []

    def take(_, result, *__):
        try:
            ended.append((finish(result), None))
        except GLib.Error as error:
            ended.append((None, error))
        loop.quit()

    begin(*arguments, take)
    loop.run()
    value, error = ended[0]
    if error:
        raise error
    return value


def pump(is_so, what):
    """Runs the main loop until a condition holds."""
    expired = []
    GLib.timeout_add(10_000, expired.append, True)
    while not is_so():
        if expired:
            raise AssertionError("waited in vain for " + what)
        GLib.MainContext.default().iteration(False)


def passwords():
    one, two = {"text": "a", "number": "1", "flag": "true"}, {"text": "a", "number": "2"}
    for attributes, value in (one, "first"), (two, "second"), (one, "erstes ü"):
        assert Secret.password_store_sync(SCHEMA, attributes, Secret.COLLECTION_DEFAULT, "label", value, None)
    same(Secret.password_lookup_sync(SCHEMA, one, None), "erstes ü")
    same(Secret.password_lookup_sync(SCHEMA, {"text": "none"}, None), None)
    same(Secret.password_lookup_sync(NAMELESS, {"text": "a"}, None), "erstes ü")
    assert later(Secret.password_store, Secret.password_store_finish, SCHEMA, {"text": "b"},
                 Secret.COLLECTION_SESSION, "in the session", "passing", None)
    same(later(Secret.password_lookup, Secret.password_lookup_finish, SCHEMA, {"text": "b"}, None), "passing")
    assert later(Secret.password_clear, Secret.password_clear_finish, SCHEMA, {"text": "b"}, None)
    same(Secret.password_lookup_sync(SCHEMA, {"text": "b"}, None), None)
    same(Secret.password_clear_sync(SCHEMA, {"text": "b"}, None), False)


def searches(service):
    flags = Secret.SearchFlags

    def labels(*all_flags, schema=SCHEMA, attributes=None):
        wanted = flags.NONE
        for flag in all_flags:
            wanted |= flag
        return [(item.get_label(), item.get_locked(), item.get_secret() and item.get_secret().get_text())
                for item in service.search_sync(schema, attributes or {"text": "a"}, wanted, None)]

    same(labels(), [("label", False, None)])
    same(labels(flags.ALL), [("label", False, None)] * 2)
    same(labels(flags.LOAD_SECRETS), [("label", False, "erstes ü")])
    same(labels(flags.ALL, flags.LOAD_SECRETS), [("label", False, "erstes ü"), ("label", False, "second")])
    same(labels(flags.ALL, flags.UNLOCK, flags.LOAD_SECRETS),
         [("label", False, "erstes ü"), ("label", False, "second")])
    found = later(service.search, service.search_finish, SCHEMA, {"text": "a"}, flags.ALL | flags.LOAD_SECRETS, None)
    same([item.get_secret().get_text() for item in found], ["erstes ü", "second"])
    same(labels(attributes={"text": "none"}), [])


def objects(service):
    collection = Secret.Collection.for_alias_sync(service, "default", Secret.CollectionFlags.LOAD_ITEMS, None)
    same(collection.get_label(), "Login")
    same(len(collection.get_items()), 2)
    value = Secret.Value.new("bytes\0", 6, "application/octet-stream")
    item = Secret.Item.create_sync(collection, SCHEMA, {"text": "item"}, "item", value,
                                   Secret.ItemCreateFlags.NONE, None)
    pump(lambda: len(collection.get_items()) == 3, "the new item in the collection's list")
    assert item.load_secret_sync(None)
    same((item.get_secret().get(), item.get_secret().get_content_type()), (b"bytes\0", "application/octet-stream"))
    assert item.set_label_sync("renamed", None)
    same(item.get_label(), "renamed")
    assert item.set_attributes_sync(SCHEMA, {"text": "changed"}, None)
    same(item.get_attributes()["text"], "changed")
    assert item.set_secret_sync(Secret.Value.new("new", 3, "text/plain"), None)
    other = [one for one in collection.get_items() if one.get_object_path() == item.get_object_path()][0]
    pump(lambda: other.get_label() == "renamed" and other.get_attributes()["text"] == "changed",
         "the changes at another object of the item")
    assert item.get_created() and item.get_modified() >= item.get_created()
    replaced = Secret.Item.create_sync(collection, SCHEMA, {"text": "changed"}, "again",
                                       Secret.Value.new("r", 1, "text/plain"), Secret.ItemCreateFlags.REPLACE, None)
    same(replaced.get_object_path(), item.get_object_path())
    assert Secret.Item.load_secrets_sync(collection.get_items(), None)
    same(sorted(one.get_secret().get_text() for one in collection.get_items()), ["erstes ü", "r", "second"])
    assert replaced.delete_sync(None)
    pump(lambda: len(collection.get_items()) == 2, "the list without the deleted item")
    made = Secret.Collection.create_sync(service, "Mine", None, Secret.CollectionCreateFlags.NONE, None)
    pump(lambda: any(one.get_label() == "Mine" for one in service.get_collections()), "the new collection")
    assert made.set_label_sync("Yours", None)
    same(made.get_label(), "Yours")
    assert service.set_alias_sync("default", made, None)
    preferred = Secret.Collection.for_alias_sync(service, "default", Secret.CollectionFlags.NONE, None)
    same(preferred.get_object_path(), made.get_object_path())
    assert service.set_alias_sync("default", collection, None)
    assert made.delete_sync(None)
    pump(lambda: all(one.get_label() != "Yours" for one in service.get_collections()), "the deleted collection")
    return collection


def locks(service, collection):
    def is_locked():
        return collection.get_locked()

    count, locked = service.lock_sync([collection], None)
    same((count, locked[0].get_object_path()), (1, collection.get_object_path()))
    pump(is_locked, "the lock")
    waiting = subprocess.Popen(UNLOCK, shell=True, stdout=subprocess.DEVNULL)
    same(Secret.password_lookup_sync(SCHEMA, {"text": "a", "number": "1"}, None), "erstes ü")
    waiting.wait()
    pump(lambda: not is_locked(), "the unlock")
    service.lock_sync([collection], None)
    opened = []

    def take(_, result):
        opened.append(service.unlock_finish(result))
        loop.quit()

    service.unlock([collection], None, take)
    GLib.timeout_add(500, lambda: bool(subprocess.run(UNLOCK, shell=True, stdout=subprocess.DEVNULL)) and False)
    loop.run()
    same(opened[0][0], 1)
    same(Secret.password_lookup_sync(SCHEMA, {"text": "a", "number": "2"}, None), "second")
    # A search may ask for the unlock itself.
    service.lock_sync([collection], None)
    waiting = subprocess.Popen(UNLOCK, shell=True, stdout=subprocess.DEVNULL)
    flags = Secret.SearchFlags.ALL | Secret.SearchFlags.UNLOCK | Secret.SearchFlags.LOAD_SECRETS
    same([item.get_secret().get_text() for item in service.search_sync(SCHEMA, {"text": "a"}, flags, None)],
         ["erstes ü", "second"])
    waiting.wait()


passwords()
loaded = Secret.Service.get_sync(
    Secret.ServiceFlags.OPEN_SESSION | Secret.ServiceFlags.LOAD_COLLECTIONS, None)
same(loaded.get_session_algorithms(), "dh-ietf1024-sha256-aes128-cbc-pkcs7")
searches(loaded)
locks(loaded, objects(loaded))
assert Secret.password_clear_sync(SCHEMA, {"text": "a"}, None)
same(Secret.password_lookup_sync(SCHEMA, {"text": "a"}, None), None)
print("done")
