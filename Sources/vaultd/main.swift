internal import Glibc
internal import VaultDaemon
internal import VaultProcess

exit(ProgramArguments.run("vaultd", Daemon.main))
