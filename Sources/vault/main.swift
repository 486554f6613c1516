internal import VaultCLI

VaultProgram.main()
