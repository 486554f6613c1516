"""The own tests of two Python libraries: SecretStorage, and keyring with its backends on that and on libsecret."""

import os, re, shutil, xml.etree.ElementTree

from mocked import Vaults, Worker, replaced
from packages import PYTHON
from stand import Failure, Stand, check

SECRETSTORAGE, KEYRING = "3.5.0", "25.7.0"
# The name on the bus that decides which of SecretStorage's tests are skipped: those for the mock run with another one.
CONFTEST = """import os, subprocess, sys
import secretstorage.util
if os.environ.get("INTEROP_SCRIPT"):
    mock = subprocess.Popen([sys.executable, os.environ["INTEROP_SCRIPT"]], stdout=subprocess.PIPE, text=True)
    secretstorage.util.BUS_NAME = mock.stdout.readline().strip()
    def pytest_unconfigure():
        mock.terminate()
        mock.wait()
"""


def libraries(packages):
    return packages.python_packages(f"python-{SECRETSTORAGE}-{KEYRING}", "pytest", f"SecretStorage=={SECRETSTORAGE}",
                                    f"keyring=={KEYRING}")


def pytest(run, folder, libraries, *words, **variables):
    """Runs tests in a folder. Yields the name of each, and what is wrong; those that fail as expected have no fault."""
    report = os.path.join(folder, "report.xml")
    done = run(PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", folder, "-rs",
               "--junitxml", report, *words, cwd=folder, PYTHONPATH=libraries, **variables)
    check(os.path.exists(report), "pytest: " + (done.stdout + done.stderr).strip()[-500:])
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname').removeprefix('tests.')}.{case.get('name')}"
        fault = case.find("failure") if case.find("error") is None else case.find("error")
        skipped = case.find("skipped")
        if skipped is not None and skipped.get("type") != "pytest.xfail":
            yield name, "skipped: " + skipped.get("message", "")
        else:
            yield name, None if fault is None else fault.get("message", "").strip().replace("\n", " ")[:300]


def secretstorage(programs, packages, everything):
    """Its tests, and among them those that are made for libsecret's mock service."""
    source, libs = packages.python_source("SecretStorage", SECRETSTORAGE), libraries(packages)
    vaults = Vaults(programs)
    worker = Worker(vaults)
    worker.is_known_by_number = True
    # None of these tests needs anything to be locked but what it locks itself.
    worker.lock = lambda: None
    try:
        folder = worker.stand.path("tests")
        shutil.copytree(source + "/tests", folder)
        for name in os.listdir(folder):
            with open(os.path.join(folder, name)) as file:
                text = replaced(file.read(), vaults.paths)
            worker.stand.write("tests/" + name, text)
        worker.stand.write("tests/conftest.py", CONFTEST)
        script = worker.stand.path("scripts/libsecret/mock-service-lock.py")
        yield from pytest(worker.run, folder, libs, folder, INTEROP_SCRIPT=script)
    finally:
        worker.close()
        vaults.close()


def keyring(programs, packages, everything):
    """All of its tests but those of other systems' keyrings.

    Those that use an open connection in a forked process wait for a time limit with any service.
    """
    source, libs = packages.python_source("keyring", KEYRING), libraries(packages)
    with Stand(programs) as stand:
        folder = stand.path("tests")
        shutil.copytree(source + "/tests", folder)
        words = [] if everything else ["--ignore=test_multiprocess.py"]
        for name, fault in pytest(stand.run, folder, libs, *words, "."):
            if not (fault and re.match("skipped: .*(Windows|win32|KWallet|macOS)", fault)):
                yield name, fault
