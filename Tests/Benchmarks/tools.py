"""Other tools that keep passwords, each with as many entries as it is told, to set `vault get` beside."""

import base64, os, subprocess
from world import PASSWORD, clean_environment


class Pass:
    """`pass` with one GnuPG key; the same entries are also encrypted to a key with a passphrase."""

    def __init__(self, folder, count):
        self.folder, self.count = folder, count
        self.environment = clean_environment(folder) | {"GNUPGHOME": os.path.join(folder, "gnupg")}
        self.passphrase = os.path.join(folder, "passphrase")

    def open(self):
        os.mkdir(self.environment["GNUPGHOME"], mode=0o700)
        with open(self.passphrase, "w") as file:
            file.write(PASSWORD)
        for name, secret in (("open", ""), ("protected", PASSWORD)):
            self.gpg("--pinentry-mode", "loopback", "--passphrase", secret, "--quick-generate-key",
                     f"{name}@bench.invalid", "default", "default", "never")
            folder = os.path.join(self.folder, name)
            os.mkdir(folder)
            with open(os.path.join(folder, ".gpg-id"), "w") as file:
                file.write(f"{name}@bench.invalid\n")
            # One is encrypted, the others are copies: pass opens a file by its name and looks at no other.
            first = os.path.join(folder, "item-0.gpg")
            self.gpg("--trust-model", "always", "-r", f"{name}@bench.invalid", "-o", first, "--encrypt",
                     input=b"secret\n")
            for i in range(1, self.count):
                os.link(first, os.path.join(folder, f"item-{i}.gpg"))

    def gpg(self, *arguments, **options):
        subprocess.run(["gpg", "--batch", "--quiet", *arguments], env=self.environment, check=True,
                       stderr=subprocess.DEVNULL, **options)

    def command(self, protected):
        folder = os.path.join(self.folder, "protected" if protected else "open")
        options = f"--pinentry-mode loopback --passphrase-file {self.passphrase}" if protected else ""
        return ["env", f"PASSWORD_STORE_DIR={folder}", f"PASSWORD_STORE_GPG_OPTS={options}", "pass", "show", "item-42"]

    def stop(self):
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], env=self.environment, check=True)


class KeePassXC:
    """A KeePass database, made from XML."""

    def __init__(self, folder, count):
        self.folder, self.count = folder, count
        self.environment = clean_environment(folder)
        self.database = os.path.join(folder, "bench.kdbx")
        # It reads its password from the standard input.
        self.command = self.reading("show -q -s -a password", "item-42")

    def reading(self, command, *entry):
        return ["sh", "-c", " ".join([f"echo {PASSWORD} | keepassxc-cli {command} {self.database}", *entry])]

    def open(self):
        xml = os.path.join(self.folder, "bench.xml")
        with open(xml, "w") as file:
            file.write(f"<KeePassFile><Meta/><Root><Group><UUID>{self.id(0)}</UUID><Name>Root</Name>")
            for i in range(self.count):
                file.write(f"<Entry><UUID>{self.id(i + 1)}</UUID>"
                           f"<String><Key>Title</Key><Value>item-{i}</Value></String>"
                           f"<String><Key>Password</Key><Value>{i:064}</Value></String></Entry>")
            file.write("</Group></Root></KeePassFile>")
        subprocess.run(["keepassxc-cli", "import", "-q", "-p", xml, self.database], env=self.environment, check=True,
                       input=f"{PASSWORD}\n{PASSWORD}\n".encode(), stderr=subprocess.DEVNULL)

    @staticmethod
    def id(number):
        return base64.b64encode(number.to_bytes(16, "big")).decode()

    def stop(self):
        pass
