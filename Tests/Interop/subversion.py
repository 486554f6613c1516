"""Subversion, which keeps its users' passwords through libsecret."""

import os, socket

from stand import Stand, wait

USER, PASSWORD = "ana", "a password of svn"
SVNSERVE = "[general]\nanon-access = none\nauth-access = write\npassword-db = passwd\nrealm = interop\n"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def results(programs, packages, everything):
    root = packages.unpacked("subversion", "subversion")
    libraries = {"LD_LIBRARY_PATH": os.path.join(root, "usr/lib", os.uname().machine + "-linux-gnu")}
    with Stand(programs) as stand:
        def program(name, *words):
            return (os.path.join(root, "usr/bin", name), *words)

        def svn(*words):
            return program("svn", "info", address, *(words or ["--non-interactive"]), "--config-dir",
                           stand.path("config/subversion"), "--config-option",
                           "config:auth:password-stores=gnome-keyring")

        def fault(done):
            return None if done.returncode == 0 and "UUID" in done.stdout else done.stderr.strip()[-300:] or done.stdout

        stand.run(*program("svnadmin", "create", stand.path("repository")), **libraries)
        stand.write("repository/conf/svnserve.conf", SVNSERVE)
        stand.write("repository/conf/passwd", f"[users]\n{USER} = {PASSWORD}\n")
        port = free_port()
        address = f"svn://127.0.0.1:{port}/repository"
        environment, stand.environment = stand.environment, stand.environment | libraries
        stand.start(*program("svnserve", "--daemon", "--foreground", "--listen-host", "127.0.0.1", "--listen-port",
                             str(port), "--root", stand.folder), log="svnserve.log")
        stand.environment = environment

        def is_there():
            with socket.socket() as one:
                return one.connect_ex(("127.0.0.1", port)) == 0

        wait(is_there, "svnserve")
        yield "nothing is kept", None if fault(stand.run(*svn(), **libraries)) else "it needed no password"
        login = svn("--force-interactive", "--username", USER, "--password", PASSWORD)
        yield "it keeps a password", fault(stand.run(*login, **libraries))
        kept = [stand.vault("get", name) for name in stand.vault("list", "secret-service").decode().split()]
        yield "the vault has it", None if kept == [PASSWORD.encode()] else f"the vault has {len(kept)} items"
        yield "it finds the password", fault(stand.run(*svn(), **libraries))
        stand.lock_on_bus()
        # Without a person it asks for no unlock.
        yield "it waits for an unlock", fault(stand.run_until_unlocked(*svn("--force-interactive"), **libraries))
