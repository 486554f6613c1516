internal import Glibc
internal import VaultPAM

exit(PAMProgram.main(Array(CommandLine.arguments.dropFirst())))
