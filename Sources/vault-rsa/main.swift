internal import Glibc
internal import VaultHelper
internal import VaultProcess
internal import VaultRSA

exit(ProgramArguments.run("vault-rsa", RSAProgram.program.main))
