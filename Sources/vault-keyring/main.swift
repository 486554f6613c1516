internal import Glibc
internal import VaultKeyring
internal import VaultKeystore
internal import VaultProcess

exit(ProgramArguments.run("vault-keyring", Keyring.program.main))
