"""The packages that the parts of `make interop` bring: Debian's packages and sources, and sources from PyPI.

All of it stays in a folder: packages are unpacked and not installed, and apt keeps lists of its own there. Whatever was
brought once is there the next time.
"""

import glob, os, re, shutil, subprocess, threading

PYTHON = "/usr/bin/python3"


class Missing(Exception):
    """Tells what cannot be had."""


def run(*command, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise Missing(f"{' '.join(command[:2])}: {lines[-1] if lines else 'failed'}")
    return done.stdout


class Packages:
    def __init__(self, folder):
        self.folder, self.is_fresh, self.lock = folder, False, threading.Lock()
        for name in ("lists/partial", "archives/partial", "parts"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def apt(self, *words, cwd=None, tool="apt-get"):
        options = {"Dir::State::lists": self.path("lists"), "Dir::Cache::archives": self.path("archives"),
                   "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": "", "Dir::Etc::sourcelist": "/dev/null",
                   "Dir::Etc::sourceparts": self.path("parts"), "APT::Sandbox::User": "root"}
        return run(tool, "-q", *(part for pair in options.items() for part in ("-o", "=".join(pair))), *words, cwd=cwd)

    def refresh(self):
        """Gets the lists of the machine's archive, also of its sources."""
        if self.is_fresh:
            return
        for path in glob.glob("/etc/apt/sources.list.d/*.sources"):
            with open(path) as file, open(self.path("parts", os.path.basename(path)), "w") as copy:
                copy.write(re.sub(r"(?m)^Types:.*", "Types: deb deb-src", file.read()))
        if os.path.exists("/etc/apt/sources.list"):
            with open("/etc/apt/sources.list") as file, open(self.path("parts/machine.list"), "w") as copy:
                for line in file:
                    if line.startswith("deb "):
                        copy.write(line + line.replace("deb ", "deb-src ", 1))
        self.apt("update")
        self.is_fresh = True

    def brought(self, name, bring):
        """The folder of this name, which the function fills the first time."""
        folder, new = self.path(name), self.path(name + ".new")
        with self.lock:
            if not os.path.isdir(folder):
                shutil.rmtree(new, ignore_errors=True)
                os.makedirs(new)
                bring(new)
                os.rename(new, folder)
        return folder

    def unpacked(self, name, *packages):
        """The folder where these packages are unpacked, with all that their installation would bring or upgrade."""
        def bring(new):
            self.refresh()
            plan = self.apt("-s", "install", "--no-install-recommends", *packages)
            names = re.findall(r"(?m)^Inst (\S+)", plan) or list(packages)
            debs = new + "/debs"
            os.mkdir(debs)
            self.apt("download", *names, cwd=debs)
            for path in sorted(glob.glob(debs + "/*.deb")):
                run("dpkg", "-x", path, new)
            shutil.rmtree(debs)

        return self.brought(name, bring)

    def debian_source(self, package):
        """The folder of a package's source, as Debian has patched it."""
        def bring(new):
            self.refresh()
            parts = new + "/parts"
            os.mkdir(parts)
            self.apt("source", package, cwd=parts)
            folder, = [path for path in glob.glob(parts + "/*") if os.path.isdir(path)]
            for entry in os.listdir(folder):
                os.rename(os.path.join(folder, entry), os.path.join(new, entry))
            shutil.rmtree(parts)

        return self.brought(package, bring)

    def python_source(self, package, version):
        """The folder of a package's source on PyPI."""
        def bring(new):
            files = new + "/files"
            run(PYTHON, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--no-binary",
                ":all:", "--dest", files, f"{package}=={version}")
            archive, = glob.glob(files + "/*.tar.gz")
            run("tar", "-xzf", archive, "--strip-components=1", "-C", new)
            shutil.rmtree(files)

        return self.brought(f"{package}-{version}", bring)

    def python_packages(self, name, *packages):
        """The folder where these packages of PyPI are, with those that they need."""
        return self.brought(name, lambda new: run(
            PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--root-user-action", "ignore",
            "--upgrade", "--target", new, *packages))
