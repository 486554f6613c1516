"""go-keyring's own tests. The variable GO_KEYRING names their program, which `go test -c` makes of its sources: neither
Debian 12 nor PyPI has these."""

import os, re

from stand import Stand

PROGRAM = os.environ.get("GO_KEYRING")
OUTCOME = re.compile(r"--- (PASS|FAIL): (\w+)")


def results(programs, packages, everything):
    with Stand(programs) as stand:
        def outcomes(done):
            found = OUTCOME.findall(done.stdout)
            if not found:
                yield "its tests", f"ended with {done.returncode}: {done.stderr.strip()[-300:]}"
            for outcome, case in found:
                yield case, None if outcome == "PASS" else done.stdout.strip()[-300:]

        yield from outcomes(stand.run(PROGRAM, "-test.v"))
        stand.chill()
        for case, fault in outcomes(stand.run_until_unlocked(PROGRAM, "-test.v", "-test.run", "^TestGet$")):
            yield f"{case} waits for an unlock", fault
