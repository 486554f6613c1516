internal import ArgumentParser

/// The groups in which the help shows the commands. Each command must be in one group, or it is no command.
enum HelpGroup: String, CaseIterable {
  case vault = "Vault"
  case items = "Item"
  case keys = "Key"
  case programs = "Program"
  case access = "Access"
  case store = "Store"
  case other = "Other"

  var commands: [any ParsableCommand.Type] {
    switch self {
    case .vault: [InitCommand.self, UnlockCommand.self, LockCommand.self, StatusCommand.self]
    case .items:
      [
        GetCommand.self, TOTPCommand.self, SetCommand.self, EditCommand.self, GenerateCommand.self, ListCommand.self,
        FindCommand.self, PickCommand.self, ShowCommand.self, RemoveCommand.self, MoveCommand.self, CopyCommand.self,
        HistoryCommand.self, RestoreVersionCommand.self, TrashCommand.self, DepositCommand.self, DepositsCommand.self,
        WatchCommand.self, ReceiptsCommand.self,
      ]
    case .keys: [SignCommand.self, MACCommand.self, TokenCommand.self, PubkeyCommand.self]
    case .programs: [RunCommand.self, EnvCommand.self, InjectCommand.self, SecretServiceCommand.self]
    case .access:
      [
        PasswdCommand.self, SlotCommand.self, RekeyCommand.self, GrantCommand.self, RevokeCommand.self,
        GrantsCommand.self, CanCommand.self, RequestsCommand.self, ApproveCommand.self, DenyCommand.self,
        RefuseCommand.self,
        AuditCommand.self, ShowKeyCommand.self,
      ]
    case .store:
      [
        BackupCommand.self, RestoreCommand.self, ImportCommand.self, ExportCommand.self, VerifyCommand.self,
        SalvageCommand.self, ClockCommand.self,
        ReloadCommand.self,
      ]
    case .other: [HelperCommand.self, AgentCommand.self, DoctorCommand.self, CompletionsCommand.self]
    }
  }

  /// The everyday commands, in the order in which `vault` alone shows them.
  static let everyday: [any ParsableCommand.Type] = [
    SetCommand.self, GetCommand.self, ListCommand.self, FindCommand.self, ShowCommand.self, EditCommand.self,
    RemoveCommand.self, GenerateCommand.self, UnlockCommand.self, LockCommand.self,
  ]
}
