/// The reason that a deposit is set aside instead of being taken in. Raw values are stored and never change.
public enum DepositObstacle: UInt8, CaseIterable, Sendable {
  /// The deposit's authentication fails: it was not left here, or was changed since.
  case forged = 1
  /// The deposit does not open with the vault's key.
  case sealedToAnother = 2
  /// The deposit opens, but its content is no deposit.
  case malformed = 3
  /// The same deposit was seen before.
  case seen = 4
  /// The deposit was left too long ago.
  case expired = 5
  /// The deposit's time is in the future.
  case early = 6
  /// The depositor may not leave this deposit, or no longer may.
  case denied = 7
  /// There is such an item, and the depositor may not set its value.
  case exists = 8
  /// The item was changed after the deposit was left.
  case changed = 9
  /// The item is of another class.
  case otherClass = 10
  /// The item is of another kind, or has other attributes.
  case otherItem = 11
  /// The item already has as many versions as it keeps. Earlier programs kept deposits aside for this reason.
  case full = 12
  /// The item has expired, and a new value would remove that expiry.
  case itemExpired = 13
  /// The value does not fit its kind.
  case invalid = 14
  /// The item cannot be read.
  case unreadable = 15
  /// The vault has taken in as many deposits as it remembers, from all callers or from this one.
  case tooMany = 16
  /// The item's key is never read, and only a generated key may take its place.
  case neverRead = 17
  /// The value must be a list of revoked tokens, and is none.
  case noList = 18

  /// The reason as a clause for people.
  public var text: String {
    switch self {
    case .forged: "it is not what was deposited here, so nothing vouches for it"
    case .sealedToAnother: "it does not open with the vault's key"
    case .malformed: "it is not a deposit"
    case .seen: "it was deposited before"
    case .expired: "it is more than 30 days old"
    case .early: "its time is more than a day ahead"
    case .denied: "the depositor may not deposit it"
    case .exists: "there is such an item, which whoever left it may not set"
    case .changed: "the item has changed since the deposit"
    case .otherClass: "the item is of another class"
    case .otherItem: "the item is of another kind, or has other attributes"
    case .full: "the item has as many versions as it keeps"
    case .itemExpired: ItemProblem.expired
    case .invalid: "the value is not valid for its kind"
    case .unreadable: "the item cannot be read"
    case .tooMany: "too many sealed deposits arrived within 30 days"
    case .noList: "the value is not a list of revoked tokens, so no token would count"
    case .neverRead: "the item's key is never read, and only a generated key can replace it"
    }
  }

  /// True if the deposit can never be read, so that it can only be dropped.
  public var isFinal: Bool {
    switch self {
    case .sealedToAnother, .malformed: true
    case .forged, .seen, .expired, .early, .denied, .exists, .changed, .otherClass, .otherItem, .full, .itemExpired,
      .invalid, .unreadable, .tooMany, .neverRead, .noList:
      false
    }
  }

  /// True if the daemon itself wrote the deposit's data when the deposit was left.
  public var isAuthentic: Bool { self != .forged }
}
