internal import Glibc
internal import VaultAgent
internal import VaultProcess

exit(ProgramArguments.run(AgentProgram.main))
