"""uv with its own keyring, which speaks to the service by a library for Rust (secret-service)."""

import os

from stand import Stand

SITE = ("https://example.org", "--username", "ana")
PASSWORD = "a password of uv"


def results(programs, packages, everything):
    program = os.path.join(packages.python_packages("uv", "uv"), "bin/uv")
    variables = {"UV_PREVIEW_FEATURES": "native-auth", "UV_NO_CONFIG": "1"}
    with Stand(programs) as stand:
        def command(word, *more):
            return program, "auth", word, *SITE, *more

        def fault(done, status, text=""):
            if done.returncode == status and done.stdout.strip() == text:
                return None
            return f"ended with {done.returncode}: {done.stderr.strip()[-300:]}"

        yield "no password", fault(stand.run(*command("token"), **variables), 2)
        done = stand.run(*command("login", "--password", PASSWORD), **variables)
        yield "it keeps a password", fault(done, 0)
        yield "it finds the password", fault(stand.run(*command("token"), **variables), 0, PASSWORD)
        stand.chill()
        done = stand.run_until_unlocked(*command("token"), **variables)
        yield "it waits for an unlock", fault(done, 0, PASSWORD)
        yield "it deletes the password", fault(stand.run(*command("logout"), **variables), 0)
        yield "it finds none", fault(stand.run(*command("token"), **variables), 2)
