"""The common part of the checks of callers in the container: the machine's vault, units, and people with managers of
their own."""
import os, pwd, subprocess, sys

PASSWORD = "correct horse battery\n"
failures = []


def expect(what, answer, expected):
    # If this is the last line of the output, the next check took too long.
    print(f"{what}: {answer}", flush=True)
    if answer != expected:
        failures.append(f"{what}: {answer!r}, not {expected!r}")


def run(*command, **options):
    return subprocess.run(command, text=True, capture_output=True, timeout=60, **options)


def must(*command, **options):
    outcome = run(*command, **options)
    if outcome.returncode != 0:
        sys.exit(f"{command}: {outcome.returncode}: {outcome.stderr}")
    return outcome.stdout


def answer(outcome):
    """Returns the answer of `vault get`: the value, or the exit code."""
    return outcome.stdout.strip() if outcome.returncode == 0 else outcome.returncode


def machine(*words, **options):
    return must("vault", "--system", *words, **options)


def get(item, *, unit, user, **properties):
    """`vault get` in a unit of the system's manager."""
    options = [word for name, value in properties.items() for word in ("-p", f"{name}={value}")]
    return answer(run("systemd-run", "--quiet", "--wait", "--pipe", "--collect", f"--unit={unit}", f"--uid={user}",
                      *options, "vault", "--system", "get", item))


class Person:
    """A user with a service manager of their own."""

    def __init__(self, name):
        self.name, self.uid = name, pwd.getpwnam(name).pw_uid
        must("systemctl", "start", f"user@{self.uid}.service")

    def run(self, *command, unit=None, **options):
        """A command in a unit of that manager."""
        environment = {"PATH": os.environ["PATH"], "HOME": f"/home/{self.name}",
                       "XDG_RUNTIME_DIR": f"/run/user/{self.uid}"}
        named = [f"--unit={unit}"] if unit else []
        return run("setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--init-groups", "systemd-run", "--user",
                   "--quiet", "--wait", "--pipe", "--collect", *named, *command, env=environment, **options)

    def must(self, *command, **options):
        outcome = self.run(*command, **options)
        if outcome.returncode != 0:
            sys.exit(f"{self.name}: {command}: {outcome.returncode}: {outcome.stderr}")

    def get(self, item, *options, unit=None):
        return answer(self.run("vault", *options, "get", item, unit=unit))


def remove(*users):
    """Takes users away, with their managers: the next check may make its own of these names."""
    for user in users:
        must("systemctl", "stop", f"user@{pwd.getpwnam(user).pw_uid}.service")
        must("userdel", "--force", "--remove", user)


def finish():
    """The last word of a check."""
    print("\n".join(failures) or "held")
