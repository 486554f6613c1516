internal import Glibc
internal import VaultHelper
internal import VaultProcess
internal import VaultRSA

exit(ProgramArguments.run(RSAProgram.program.main))
