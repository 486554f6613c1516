internal import Glibc
internal import VaultKeyring
internal import VaultKeystore

exit(Keyring.program.main(Array(CommandLine.arguments.dropFirst())))
