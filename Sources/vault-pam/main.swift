internal import Glibc
internal import VaultPAM
internal import VaultProcess

exit(ProgramArguments.run(PAMProgram.main))
