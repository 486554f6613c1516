#!/usr/bin/python3
"""interop.py BIN: the programs in BIN and programs that no one here wrote.

The parts' needs come from the machine's own archive and from PyPI, and stay below .build/interop. A part for which
something cannot be had is named as skipped; under CI=true that is a failure. The variable INTEROP is `all` for the
cases that take long, too, or names the parts to run, separated by blanks.
"""

import concurrent.futures, os, subprocess, sys, time

import chromium, evolution, go_keyring, libsecret, python, subversion, uv
from packages import Missing, Packages
from stand import Failure

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.join(os.path.dirname(os.path.dirname(HERE)), ".build/interop")


def git(programs, packages, everything):
    """git's own tests of credential helpers (t0303), by git as Debian has it."""
    packages.debian_source("git")
    done = subprocess.run([os.path.join(HERE, "t0303.sh"), programs, WORK], capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith(("ok ", "not ok "))]
    if not lines:
        raise Failure((done.stderr or done.stdout).strip()[-500:])
    for line in lines:
        yield line.split(" - ", 1)[-1], None if line.startswith("ok ") else "failed"


# Each part: its name, and a function that yields the name of each case with what was wrong, or with nothing.
PARTS = (
    ("git", git),
    ("SecretStorage", python.secretstorage),
    ("keyring", python.keyring),
    ("libsecret", libsecret.results),
    ("libedataserver", evolution.results),
    ("subversion", subversion.results),
    ("uv", uv.results),
    ("chromium", chromium.results),
) + ((("go-keyring", go_keyring.results),) if go_keyring.PROGRAM else ())
# The least number of cases of the parts that are other programs' own tests, so that none goes missing unseen.
LEAST = {"SecretStorage": 27, "keyring": 52, "libsecret": 154, "go-keyring": 16}
# The programs that are named and never run, and the reasons.
ABSENT = {} if go_keyring.PROGRAM else {"go-keyring": "GO_KEYRING does not name its tests, built by `go test -c`"}


class Account:
    """The outcomes of the cases of a part."""

    def __init__(self, name):
        self.name, self.lines, self.passed, self.failed, self.skipped = name, [], 0, 0, 0

    def say(self, text):
        self.lines.append(f"{self.name}: {text}")

    def fail(self, text):
        self.failed += 1
        self.say("FAILED: " + text)


def run(name, part, programs, packages, everything):
    account, begun, known = Account(name), time.monotonic(), 0
    try:
        for case, fault in part(programs, packages, everything):
            if fault is None and case in libsecret.KNOWN:
                account.fail(f"{case}: passes, and is known not to")
            elif fault is None:
                account.passed += 1
            elif case in libsecret.KNOWN:
                known += 1
                if everything:
                    account.say(f"{case}: otherwise than the mock: {libsecret.KNOWN[case]}")
            else:
                account.fail(f"{case}: {fault}")
    except Missing as missing:
        account.skipped = 1
        account.say(f"skipped: {missing}")
        return account
    except Exception as error:
        account.fail(f"{type(error).__name__}: {error}")
    ran = account.passed + account.failed + known
    if not account.failed and ran < LEAST.get(name, 1):
        account.fail(f"{ran} tests ran, of at least {LEAST.get(name, 1)}")
    rest = f", {known} otherwise than the mock, as they should" if known else ""
    account.say(f"{account.passed} passed, {account.failed} failed{rest} ({time.monotonic() - begun:.0f} s)")
    return account


def main(programs):
    wanted = os.environ.get("INTEROP", "").split()
    names = [name for name in wanted if name != "all"]
    unknown = set(names) - {name for name, _ in PARTS}
    if unknown:
        sys.exit("interop: there is no part " + ", ".join(sorted(unknown)))
    packages, accounts = Packages(WORK), []
    # Most of them wait most of the time.
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(run, name, part, programs, packages, "all" in wanted)
                for name, part in PARTS if not names or name in names]
        for done in concurrent.futures.as_completed(runs):
            accounts.append(done.result())
            print("\n".join(accounts[-1].lines), flush=True)
    for name, reason in ABSENT.items():
        print(f"{name}: skipped: {reason}")
    passed, failed, skipped = (sum(getattr(one, key) for one in accounts) for key in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed, {skipped + len(ABSENT)} skipped")
    return 1 if failed or not passed or skipped and os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
