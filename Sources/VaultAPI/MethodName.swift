/// Every method the daemon serves: those of io.vaultd.Vault, and the two of org.varlink.service.
public enum MethodName: Hashable, Sendable, CaseIterable {
  case get, status, initialize, unlock, authenticate, respond, lock, set, setMany, show, find, delete, move, history
  case listSlots, changePassword, markStale, addSlot, removeSlot, rekey, monitor, verify, backup, restore, salvage
  case getInfo, getInterfaceDescription

  /// The name as a call carries it.
  public var fullName: StaticString {
    switch self {
    case .get: "io.vaultd.Vault.Get"
    case .status: "io.vaultd.Vault.Status"
    case .initialize: "io.vaultd.Vault.Init"
    case .unlock: "io.vaultd.Vault.Unlock"
    case .authenticate: "io.vaultd.Vault.Authenticate"
    case .respond: "io.vaultd.Vault.Respond"
    case .lock: "io.vaultd.Vault.Lock"
    case .set: "io.vaultd.Vault.Set"
    case .setMany: "io.vaultd.Vault.SetMany"
    case .show: "io.vaultd.Vault.Show"
    case .find: "io.vaultd.Vault.Find"
    case .delete: "io.vaultd.Vault.Delete"
    case .move: "io.vaultd.Vault.Move"
    case .history: "io.vaultd.Vault.History"
    case .listSlots: "io.vaultd.Vault.ListSlots"
    case .changePassword: "io.vaultd.Vault.ChangePassword"
    case .markStale: "io.vaultd.Vault.MarkStale"
    case .addSlot: "io.vaultd.Vault.AddSlot"
    case .removeSlot: "io.vaultd.Vault.RemoveSlot"
    case .rekey: "io.vaultd.Vault.Rekey"
    case .monitor: "io.vaultd.Vault.Monitor"
    case .verify: "io.vaultd.Vault.Verify"
    case .salvage: "io.vaultd.Vault.Salvage"
    case .backup: "io.vaultd.Vault.Backup"
    case .restore: "io.vaultd.Vault.Restore"
    case .getInfo: "org.varlink.service.GetInfo"
    case .getInterfaceDescription: "org.varlink.service.GetInterfaceDescription"
    }
  }

  /// The method that the string `node` names; nil when there is none, and ``Fault/unknownMethod(_:)`` says why.
  public init?(_ frame: borrowing Frame, _ node: Frame.Node) {
    for method in MethodName.allCases where frame.equals(node, method.fullName) {
      self = method
      return
    }
    return nil
  }

  /// True when the method streams replies or asks questions, so that it must be called with `more`.
  public var needsMore: Bool {
    switch self {
    case .initialize, .unlock, .authenticate, .changePassword, .addSlot, .removeSlot, .rekey, .monitor, .verify,
      .restore, .salvage:
      true
    default: false
    }
  }

  /// True when other bytes than Varlink's follow on the connection, so that it must be called with `upgrade`.
  public var needsUpgrade: Bool { self == .backup || self == .restore }
}
