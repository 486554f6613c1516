/// The reason why a deposit is not taken in, but kept aside. Raw values are stored and never change.
public enum DepositObstacle: UInt8, CaseIterable, Sendable {
  /// Its authentication fails: it was not left here, or not so.
  case forged = 1
  /// It does not open with the vault's key.
  case sealedToAnother = 2
  /// It opens, and is no deposit.
  case malformed = 3
  /// It was seen before.
  case seen = 4
  /// It was left too long ago.
  case expired = 5
  /// Its time has not come yet.
  case early = 6
  /// Whoever left it may not do so, or may not any more.
  case denied = 7
  /// There is such an item, and whoever left it may not set that.
  case exists = 8
  /// The item was changed since it was left.
  case changed = 9
  /// The item is of another class.
  case otherClass = 10
  /// The item is of another kind, or has other attributes.
  case otherItem = 11
  /// The item has as many versions as it keeps.
  case full = 12
  /// The item has expired, and a new value would take that away.
  case itemExpired = 13
  /// The value is none of its kind.
  case invalid = 14
  /// The item cannot be read.
  case unreadable = 15
  /// As many boxes were taken in as are remembered.
  case tooMany = 16
  /// The item's key is never read, and only a generated one takes its place.
  case neverRead = 17

  /// The reason as a clause for people.
  public var text: String {
    switch self {
    case .forged: "it is not what was left here, so nothing vouches for it"
    case .sealedToAnother: "it does not open with the vault's key"
    case .malformed: "it is no deposit"
    case .seen: "it was handed in before"
    case .expired: "it was left more than 30 days ago"
    case .early: "its time is more than a day ahead"
    case .denied: "whoever left it may not leave that"
    case .exists: "there is such an item, which whoever left it may not set"
    case .changed: "the item has changed since it was left"
    case .otherClass: "the item is of another class"
    case .otherItem: "the item is of another kind, or has other attributes"
    case .full: "the item has as many versions as it keeps"
    case .itemExpired: "the item has expired"
    case .invalid: "the value is not valid for its kind"
    case .unreadable: "the item cannot be read"
    case .tooMany: "too many boxes were handed in within 30 days"
    case .neverRead: "the item's key is never read, and only a generated one takes its place"
    }
  }

  /// True when what it says of itself is what the daemon wrote when it was left.
  public var isAuthentic: Bool { self != .forged }
}
