internal import Glibc
internal import VaultProcess
internal import VaultQR

exit(ProgramArguments.run(QRProgram.main))
