/// A call failed: one case per error of io.vaultd.Vault.
public enum Fault: Error, Hashable, Sendable {
  /// There is no vault yet: `Init` makes one.
  case noVault
  /// There is a vault already, which `Init` never replaces.
  case vaultExists
  /// The vault is locked. `state` is `cold` or `locked`.
  case locked(state: String, cause: String)
  /// The time to wait is up, and the vault is still locked.
  case timedOut
  /// No item has this name. `unverified` when the store has not been found whole: somebody may have taken it away.
  case noSuchItem(name: String, unverified: Bool? = nil)
  /// The item has no such version, or no longer.
  case noSuchVersion(name: String, version: Int)
  /// There is no such way in.
  case noSuchSlot(id: Int)
  /// The last way in cannot be removed.
  case lastSlot
  /// An item of this name exists. `failed` is its index in `SetMany`.
  case alreadyExists(name: String, failed: Int?)
  /// The item is past its expiry, `expires` in Unix time.
  case expired(name: String, expires: Int64)
  /// Not a name. `failed` is its index in `SetMany`.
  case invalidName(name: String, reason: String, failed: Int?)
  /// Not a value of this kind. `failed` is its index in `SetMany`.
  case invalidValue(kind: String, reason: String, failed: Int?)
  /// Not a query. `position` is the byte offset in it.
  case invalidQuery(reason: String, position: Int)
  /// The wrong secret. The next attempt is possible after a while.
  case authenticationFailed(method: String, retryAfterMilliseconds: Int)
  /// The recovery code's checksum does not fit: a typing error, not an attempt.
  case mistypedRecoveryCode
  /// Too soon after a wrong secret.
  case backingOff(method: String, retryAfterMilliseconds: Int)
  /// This way in does not work here.
  case methodUnavailable(method: String, reason: String)
  /// The person was recognised, but the account or its password is past its time.
  case accountExpired(reason: String)
  /// PAM counted too many wrong attempts.
  case tooManyTries
  /// The check of who is there broke down.
  case presenceFailed(reason: String)
  /// The item asks for a person, and none has shown to be there: `Authenticate` does that. `require` is the item's.
  case presenceRequired(name: String, require: String)
  /// The vault is being given a new key, and the ways in stay as they are until it has it.
  case rekeying
  /// The conversation was cancelled.
  case cancelled
  /// No conversation has this id, or it is over.
  case noSuchConversation
  /// The new secret, or its parameters, are too weak.
  case weakSecret(reason: String)
  /// The bytes are no call; the connection ends.
  case invalidFrame(reason: String)
  /// The value is larger than `limit` bytes.
  case tooLarge(limit: Int)
  /// One call may not do so much; several may.
  case tooMuch(reason: String)
  /// The daemon has as many connections as it takes.
  case tooManyConnections
  /// This client sends more requests than the daemon takes.
  case tooManyRequests
  /// The caller may not do this.
  case denied(reason: String)
  /// The store cannot be trusted or read; `newer` when a later program wrote it.
  case corrupt(reason: String, newer: Bool)
  /// The disk did not do its part.
  case storageFailed(reason: String)
  /// There was not enough memory to derive a key from a secret, which may have been the right one.
  case outOfMemory
  /// Something is under way that this call would be in the way of.
  case busy(reason: String)
  /// The backup that was given is none, or not what was written.
  case invalidBackup(reason: String)
  /// Settings or file modes must be put right first.
  case misconfigured(reason: String)
  /// The call itself was wrong, as org.varlink.service names it.
  case service(ServiceFault)
  /// An error this program does not know.
  case unknown(String)

  /// The name as a reply carries it.
  public var fullName: String {
    switch self {
    case .noVault: "io.vaultd.Vault.NoVault"
    case .vaultExists: "io.vaultd.Vault.VaultExists"
    case .locked: "io.vaultd.Vault.Locked"
    case .timedOut: "io.vaultd.Vault.TimedOut"
    case .noSuchItem: "io.vaultd.Vault.NoSuchItem"
    case .noSuchVersion: "io.vaultd.Vault.NoSuchVersion"
    case .noSuchSlot: "io.vaultd.Vault.NoSuchSlot"
    case .lastSlot: "io.vaultd.Vault.LastSlot"
    case .alreadyExists: "io.vaultd.Vault.AlreadyExists"
    case .expired: "io.vaultd.Vault.Expired"
    case .invalidName: "io.vaultd.Vault.InvalidName"
    case .invalidValue: "io.vaultd.Vault.InvalidValue"
    case .invalidQuery: "io.vaultd.Vault.InvalidQuery"
    case .authenticationFailed: "io.vaultd.Vault.AuthenticationFailed"
    case .mistypedRecoveryCode: "io.vaultd.Vault.MistypedRecoveryCode"
    case .backingOff: "io.vaultd.Vault.BackingOff"
    case .methodUnavailable: "io.vaultd.Vault.MethodUnavailable"
    case .accountExpired: "io.vaultd.Vault.AccountExpired"
    case .tooManyTries: "io.vaultd.Vault.TooManyTries"
    case .presenceFailed: "io.vaultd.Vault.PresenceFailed"
    case .presenceRequired: "io.vaultd.Vault.PresenceRequired"
    case .rekeying: "io.vaultd.Vault.Rekeying"
    case .cancelled: "io.vaultd.Vault.Cancelled"
    case .noSuchConversation: "io.vaultd.Vault.NoSuchConversation"
    case .weakSecret: "io.vaultd.Vault.WeakSecret"
    case .invalidFrame: "io.vaultd.Vault.InvalidFrame"
    case .tooLarge: "io.vaultd.Vault.TooLarge"
    case .tooMuch: "io.vaultd.Vault.TooMuch"
    case .tooManyConnections: "io.vaultd.Vault.TooManyConnections"
    case .tooManyRequests: "io.vaultd.Vault.TooManyRequests"
    case .denied: "io.vaultd.Vault.Denied"
    case .corrupt: "io.vaultd.Vault.Corrupt"
    case .storageFailed: "io.vaultd.Vault.StorageFailed"
    case .outOfMemory: "io.vaultd.Vault.OutOfMemory"
    case .busy: "io.vaultd.Vault.Busy"
    case .invalidBackup: "io.vaultd.Vault.InvalidBackup"
    case .misconfigured: "io.vaultd.Vault.Misconfigured"
    case .service(let fault): fault.fullName
    case .unknown(let name): name
    }
  }

  /// The answer to a call of a method that ``MethodName`` does not have.
  public static func unknownMethod(_ name: String) -> Fault {
    // By bytes: a name may be as long as a frame.
    let interface = name.utf8.lastIndex(of: UInt8(ascii: ".")).map { String(name[..<$0]) } ?? ""
    return interface == VaultInterface.name || interface == ServiceInterface.name
      ? .service(.methodNotFound(method: name)) : .service(.interfaceNotFound(interface: interface))
  }
}
