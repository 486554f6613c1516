"""secretstorage_gets.py SECONDS COUNT COLLECTION: has SecretStorage find items and get their secrets, in one session
with the service on the session bus.

Prints one JSON object: how many a second."""

import json, sys, time
import secretstorage
from secretstorage.util import open_session

seconds, count, path = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
connection = secretstorage.dbus_init()
collection = secretstorage.Collection(connection, path, open_session(connection))


def get(number):
    item = next(collection.search_items({
        "xdg:schema": "org.gnome.keyring.NetworkPassword", "user": "ana", "server": f"git-{number}.example",
        "protocol": "https"}))
    if item.get_secret() != f"{number:064}".encode():
        sys.exit("bench: SecretStorage gets another secret")


get(0)
made, began = 0, time.perf_counter()
while made < 1 or time.perf_counter() - began < seconds:
    get(made * 7919 % count)
    made += 1
print(json.dumps({"total": made / (time.perf_counter() - began)}))
