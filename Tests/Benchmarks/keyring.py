"""keyring.py BUS PASSWORD ROUNDS: has gnome-keyring encrypt its keyring `bench`, and times how long it takes to unlock
it.

Prints the milliseconds of each round as one JSON array."""

import json, sys, time
import dbus, dbus.bus

SERVICE, ROOT = "org.freedesktop.secrets", "/org/freedesktop/secrets"
COLLECTION = ROOT + "/collection/bench"
GUILT_RIDDEN = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"


def secret(session, text):
    return dbus.Struct((session, dbus.ByteArray(), dbus.ByteArray(text.encode()), "text/plain"), signature="oayays")


address, password, rounds = sys.argv[1:]
bus = dbus.bus.BusConnection(address)
service = bus.get_object(SERVICE, ROOT, introspect=False)
secrets = dbus.Interface(service, "org.freedesktop.Secret.Service")
inner = dbus.Interface(service, GUILT_RIDDEN)
_, session = secrets.OpenSession("plain", dbus.String("", variant_level=1))
inner.ChangeWithMasterPassword(dbus.ObjectPath(COLLECTION), secret(session, ""), secret(session, password), timeout=600)

times = []
for _ in range(int(rounds)):
    secrets.Lock([dbus.ObjectPath(COLLECTION)])
    began = time.perf_counter()
    inner.UnlockWithMasterPassword(dbus.ObjectPath(COLLECTION), secret(session, password), timeout=600)
    times.append((time.perf_counter() - began) * 1e3)
print(json.dumps(times))
