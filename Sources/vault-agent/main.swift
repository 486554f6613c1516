internal import Glibc
internal import VaultAgent
internal import VaultProcess

exit(ProgramArguments.run("vault-agent", AgentProgram.main))
