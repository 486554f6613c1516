internal import Glibc
internal import VaultProcess
internal import VaultQR

exit(ProgramArguments.run("vault-qr", QRProgram.main))
