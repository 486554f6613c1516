internal import Glibc
internal import VaultDaemon

exit(Daemon.main(Array(CommandLine.arguments.dropFirst())))
