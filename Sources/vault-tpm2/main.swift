internal import Glibc
internal import VaultKeystore
internal import VaultTPM2

exit(TPM2.program.main(Array(CommandLine.arguments.dropFirst())))
