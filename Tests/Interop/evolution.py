"""libedataserver, by which Evolution and its data server keep the passwords of their accounts."""

import os

from packages import PYTHON
from stand import Stand

SCRIPT = """
import sys, gi
gi.require_version("EDataServer", "1.2")
from gi.repository import EDataServer
source = EDataServer.Source.new_with_uid("interop", None)
source.set_display_name("An account")
for word in sys.argv[1:]:
    if word == "lookup":
        print(source.lookup_password_sync(None)[1])
    elif word == "delete":
        print(source.delete_password_sync(None))
    else:
        where, _, password = word.partition(":")
        print(source.store_password_sync(password, where == "kept", None))
"""
# The cases: their names, the script's words, and its output.
CASES = (
    ("no password", "lookup", "None"),
    ("a password", "kept:first lookup", "True first"),
    ("another password", "kept:second lookup", "True second"),
    ("the password of an earlier program", "lookup", "second"),
    ("a deleted password", "delete lookup", "True None"),
    ("a password of the session", "passing:third lookup", "True third"),
    ("a deleted password of the session", "delete lookup", "True None"),
)


def results(programs, packages, everything):
    root = packages.unpacked("evolution", "gir1.2-edataserver-1.2")
    libraries = os.path.join(root, "usr/lib", os.uname().machine + "-linux-gnu")
    variables = {"LD_LIBRARY_PATH": libraries, "GI_TYPELIB_PATH": libraries + "/girepository-1.0",
                 "GIO_USE_VFS": "local"}

    def fault(done, wanted):
        found = " ".join(done.stdout.split())
        return None if found == wanted else f"`{found}`, not `{wanted}` {done.stderr.strip()[-300:]}"

    with Stand(programs) as stand:
        def script(words):
            return stand.run(PYTHON, "-c", SCRIPT, *words.split(), **variables)

        for name, words, wanted in CASES:
            yield name, fault(script(words), wanted)
        script("kept:fourth")
        stand.chill()
        done = stand.run_until_unlocked(PYTHON, "-c", SCRIPT, "lookup", **variables)
        yield "a password that waits for an unlock", fault(done, "fourth")
