internal import ArgumentParser

/// `vault` itself, which is its subcommands.
struct VaultCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vault",
    abstract: "Keep passwords, keys and tokens in an encrypted vault.",
    discussion: """
      Secrets are read from a hidden prompt, from standard input or from a file, never from the command line. \
      See vault(1).
      """,
    version: "vault \(ClientVersion.text)",
    groupedSubcommands: [
      CommandGroup(
        name: "Vault",
        subcommands: [InitCommand.self, UnlockCommand.self, LockCommand.self, StatusCommand.self]),
      CommandGroup(
        name: "Item",
        subcommands: [
          GetCommand.self, TOTPCommand.self, SetCommand.self, EditCommand.self, GenerateCommand.self, ListCommand.self,
          FindCommand.self, PickCommand.self, ShowCommand.self, RemoveCommand.self, MoveCommand.self, CopyCommand.self,
          HistoryCommand.self,
          RestoreVersionCommand.self, TrashCommand.self, DepositCommand.self, DepositsCommand.self, WatchCommand.self,
          ReceiptsCommand.self,
        ]),
      CommandGroup(
        name: "Key",
        subcommands: [SignCommand.self, MACCommand.self, TokenCommand.self, PubkeyCommand.self]),
      CommandGroup(name: "Program", subcommands: [RunCommand.self, EnvCommand.self, InjectCommand.self]),
      CommandGroup(
        name: "Access",
        subcommands: [
          PasswdCommand.self, SlotCommand.self, RekeyCommand.self, GrantCommand.self, RevokeCommand.self,
          GrantsCommand.self, CanCommand.self, RequestsCommand.self, ApproveCommand.self, DenyCommand.self,
          AuditCommand.self, ShowKeyCommand.self,
        ]),
      CommandGroup(
        name: "Store",
        subcommands: [
          BackupCommand.self, RestoreCommand.self, VerifyCommand.self, SalvageCommand.self, ClockCommand.self,
        ]),
      CommandGroup(
        name: "Other",
        subcommands: [HelperCommand.self, AgentCommand.self, DoctorCommand.self, CompletionsCommand.self]),
    ])
}
