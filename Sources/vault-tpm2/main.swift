internal import Glibc
internal import VaultHelper
internal import VaultProcess
internal import VaultTPM2

exit(ProgramArguments.run(TPM2.program.main))
