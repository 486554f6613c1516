/// The states of the vault in which an item's value may be served. Raw values are stored and never change.
public enum AccessClass: UInt8, Named, Sendable {
  /// Only while the vault is unlocked.
  case whenUnlocked = 1
  /// From the first unlock on, even after an idle lock or screen lock, until the daemon stops or the machine sleeps.
  case afterFirstUnlock = 2
  /// From boot, with nobody there: only the boot key protects the value.
  case always = 3

  /// The name that people and programs write, such as `when-unlocked`.
  public var name: String {
    switch self {
    case .whenUnlocked: "when-unlocked"
    case .afterFirstUnlock: "after-first-unlock"
    case .always: "always"
    }
  }
}

/// The proof that a person must give before an item's value is served. Raw values are stored and never change.
public enum Requirement: UInt8, Named, Sendable {
  /// No proof.
  case none = 0
  /// Presence: a fresh fingerprint or password.
  case userPresence = 1
  /// A fresh fingerprint (or another biometric PAM module).
  case biometry = 2
  /// A fresh password.
  case password = 3

  /// The name that people and programs write, such as `user-presence`.
  public var name: String {
    switch self {
    case .none: "none"
    case .userPresence: "user-presence"
    case .biometry: "biometry"
    case .password: "password"
    }
  }
}

/// The policies of an item, authenticated with it.
public struct Policy: Hashable, Sendable {
  /// The states of the vault in which the value may be served.
  public var accessible: AccessClass
  /// The proof that a person must give before the value is served.
  public var require: Requirement
  /// The number of seconds for which one authentication of a session counts as fresh.
  public var reuseWindow: UInt32
  /// True for a key that is used but never revealed to anybody. It is set when the item is made, and never changes.
  public var isNeverRead: Bool

  /// The allowed windows: a proof counts for at least one second, because otherwise no read could use it, and for at
  /// most a day.
  public static let reuseWindows: ClosedRange<UInt32> = 1...86_400

  /// Makes a policy; without arguments, the policy of a new item.
  public init(
    accessible: AccessClass = .whenUnlocked, require: Requirement = .none, reuseWindow: UInt32 = 60,
    isNeverRead: Bool = false
  ) {
    self.accessible = accessible
    self.require = require
    self.reuseWindow = reuseWindow
    self.isNeverRead = isNeverRead
  }

  /// True for a right that nobody has on an item with this policy: no grant gives it, and no administrator has it.
  public func withholds(_ right: Right) -> Bool {
    guard isNeverRead else { return false }
    return switch right {
    case .get: true
    // With these rights, the value does not leave the daemon; the store checks the new value that `set` may give.
    case .set, .find, .deposit, .watch, .use, .admin: false
    }
  }
}
