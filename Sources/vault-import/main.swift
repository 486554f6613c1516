internal import Glibc
internal import VaultImport
internal import VaultProcess

exit(ProgramArguments.run(ImportProgram.main))
