"""libsecret's own tests, which are made for a mock service, against a vault.

The tests are built of Debian's source, with the library that they test. Their mock is a program that prints a name on
the bus; here that program asks this one to prepare a vault that has what the mock has. The object paths in the tests'
text are those of that vault.
"""

import concurrent.futures, os, queue, re, shutil, subprocess

from mocked import Vaults, Worker, replaced
from packages import PYTHON, Missing
from stand import Failure

# The test programs; test-prompt is about prompts that only a mock has, and the rest asks no service.
PROGRAMS = ("test-service", "test-session", "test-paths", "test-methods", "test-password", "test-item",
            "test-collection", "test-value", "test-attributes")
# The tests in which a vault answers otherwise than the mock, and the reasons.
PLAIN, ALIAS = "a vault knows both kinds of sessions", "as in GNOME Keyring, no alias but `default` can be set"
KNOWN = {"test-session/session/ensure-plain": PLAIN, "test-session/session/ensure-async-plain": PLAIN,
         "test-session/session/ensure-async-twice": PLAIN, "test-paths/service/set-alias-path": ALIAS,
         "test-methods/service/set-alias-sync": ALIAS}
MOCK = """import os, subprocess, sys, types, unittest
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import gi, gi.repository
mock = types.ModuleType("gi.repository.MockService")
def start(script):
    mock.process = subprocess.Popen([sys.executable, os.path.join(os.environ["INTEROP_SCRIPTS"], script)],
                                    stdout=subprocess.PIPE, text=True)
    os.environ["SECRET_SERVICE_BUS_NAME"] = mock.process.stdout.readline().strip()
def stop():
    mock.process.terminate()
    mock.process.wait()
mock.start, mock.stop = start, stop
sys.modules["gi.repository.MockService"] = gi.repository.MockService = mock
required = gi.require_version
gi.require_version = lambda name, version: None if name == "MockService" else required(name, version)
module = os.path.basename(sys.argv[1]).removesuffix(".py")
sys.argv[1:] = ["-v"]
unittest.main(__import__(module))
"""


# --- The programs


def compiler():
    return os.environ.get("CC") or next(name for name in ("clang", "gcc") if shutil.which(name))


def flags(kind):
    names = ["glib-2.0", "gio-2.0", "gio-unix-2.0", "libgcrypt"]
    done = subprocess.run(["pkg-config", kind, *names], capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(done.stderr.strip().splitlines()[0])
    return done.stdout.split()


def tool(name):
    """GLib's generators of code, which are programs in Python, also where they are unpacked and not installed."""
    prefix = make("pkg-config", "--variable=prefix", "gio-2.0").strip()
    if name == "gdbus-codegen":
        return [PYTHON, "-c", f"import sys; sys.path.insert(0, '{prefix}/share/glib-2.0'); "
                "from codegen import codegen_main; sys.exit(codegen_main.codegen_main())"]
    return [PYTHON, f"{prefix}/bin/{name}"]


def make(*command, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)[:80]}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


class Library:
    """The library, built of Debian's source, and the tests that belong to it."""

    def __init__(self, packages):
        self.source = packages.debian_source("libsecret")
        self.folder = packages.brought("libsecret-built", self.build)
        self.objects = [os.path.join(self.folder, name) for name in os.listdir(self.folder) if name.endswith(".o")]

    def options(self, folder):
        return ["-w", "-O1", "-DSECRET_COMPILATION", "-DSECRET_API_SUBJECT_TO_CHANGE", "-I" + folder,
                "-I" + folder + "/libsecret", "-I" + self.source, "-I" + self.source + "/libsecret",
                "-I" + self.source + "/egg", *flags("--cflags")]

    def build(self, folder):
        source = self.source + "/libsecret/"
        os.mkdir(folder + "/libsecret")
        version = re.search(r"version: '([0-9.]+)'", open(self.source + "/meson.build").read())[1]
        with open(folder + "/config.h", "w") as file:
            for key, value in (("GETTEXT_PACKAGE", '"libsecret"'), ("G_LOG_DOMAIN", '"libsecret"'), ("LOCALEDIR", '""'),
                               ("PACKAGE_NAME", '"libsecret"'), ("PACKAGE_STRING", '"libsecret"'),
                               ("PACKAGE_VERSION", f'"{version}"'), ("WITH_GCRYPT", "1"),
                               ("LIBGCRYPT_VERSION", '"1.2.2"'), ("HAVE_MLOCK", "1")):
                file.write(f"#define {key} {value}\n")
        text = open(source + "secret-version.h.in").read()
        for key, part in zip(("MAJOR", "MINOR", "MICRO"), version.split(".")):
            text = text.replace(f"@SECRET_{key}_VERSION@", part)
        with open(folder + "/libsecret/secret-version.h", "w") as file:
            file.write(text)
        make(*tool("gdbus-codegen"), "--interface-prefix", "org.freedesktop.Secret.", "--c-namespace", "_SecretGen",
             "--generate-c-code", "secret-dbus-generated", source + "org.freedesktop.Secrets.xml",
             cwd=folder + "/libsecret")
        headers = [source + name for name in sorted(os.listdir(source))
                   if name.endswith(".h") and name not in ("mock-service.h", "secret-private.h")]
        for kind in ("h", "c"):
            text = make(*tool("glib-mkenums"), "--template", source + f"secret-enum-types.{kind}.template", *headers)
            with open(folder + f"/libsecret/secret-enum-types.{kind}", "w") as file:
                file.write(text)
        names = [source + name for name in os.listdir(source) if re.fullmatch(r"secret-.*\.c|mock-service\.c", name)]
        names += [self.source + f"/egg/egg-{name}.c"
                  for name in ("hex", "secure-memory", "testing", "dh", "hkdf", "libgcrypt")]
        names += [folder + "/libsecret/secret-dbus-generated.c", folder + "/libsecret/secret-enum-types.c"]
        options = [*self.options(folder), '-DSRCDIR=(g_getenv("INTEROP_SOURCE"))']
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(lambda path: make(compiler(), *options, "-c", path, cwd=folder), names))

    def test(self, program, paths, folder):
        """Builds a test program whose object paths are those of the vault."""
        text = replaced(open(f"{self.source}/libsecret/{program}.c").read(), paths)
        with open(os.path.join(folder, program + ".c"), "w") as file:
            file.write(text)
        make(compiler(), *self.options(self.folder), os.path.join(folder, program + ".c"), *self.objects, "-o",
             os.path.join(folder, program), *flags("--libs"))

    def python_tests(self, folder):
        for name in ("lookup", "clear", "store"):
            text = open(f"{self.source}/libsecret/test-py-{name}.py").read()
            # Python 3.12 has no other name for it.
            with open(f"{folder}/test_py_{name}.py", "w") as file:
                file.write(text.replace("assertEquals", "assertEqual"))
            yield f"test_py_{name}.py"


def last_words(done):
    lines = [line for line in (done.stderr + done.stdout).splitlines()
             if "ERROR" in line or "Error" in line or "CRITICAL" in line or "took more" in line]
    return lines[-1].strip() if lines else f"ended with {done.returncode}"


def results(programs, packages, everything):
    """Runs each test in a process of its own, three beside each other; what each says if it fails."""
    library = Library(packages)
    vaults = Vaults(programs)
    workers = queue.SimpleQueue()
    all_workers = []
    folder = packages.path("libsecret-tests")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    with open(folder + "/mock.py", "w") as file:
        file.write(MOCK)
    try:
        with concurrent.futures.ThreadPoolExecutor(3) as threads:
            list(threads.map(lambda program: library.test(program, vaults.paths, folder), PROGRAMS))
            tests = [((os.path.join(folder, program), "-p", name), program + name)
                     for program in PROGRAMS for name in make(os.path.join(folder, program), "-l").splitlines()
                     if name.startswith("/")]
            for module in library.python_tests(folder):
                for name in re.findall(r"def (test\w+)", open(os.path.join(folder, module)).read()):
                    command = (PYTHON, folder + "/mock.py", os.path.join(folder, module), name)
                    tests.append((command, f"{module}/{name}"))
            for _ in range(3):
                all_workers.append(Worker(vaults))
                workers.put(all_workers[-1])

            def result(test):
                worker = workers.get()
                # These tests unlock a whole collection: the items of a vault are locked one by one.
                worker.lock = worker.lock_all if test[1].endswith("clear-no-name") else worker.lock_by_class
                try:
                    done = worker.run(*test[0])
                finally:
                    workers.put(worker)
                return test[1], None if done.returncode == 0 else last_words(done)

            yield from threads.map(result, tests)
    finally:
        for worker in all_workers:
            worker.close()
        vaults.close()
