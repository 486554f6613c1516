internal import Glibc
internal import VaultDaemon
internal import VaultProcess

exit(ProgramArguments.run(Daemon.main))
