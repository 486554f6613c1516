internal import Glibc
internal import VaultHelper
internal import VaultKeyring
internal import VaultProcess

exit(ProgramArguments.run(Keyring.main))
