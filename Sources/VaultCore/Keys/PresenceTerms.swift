/// The terms of a slot that a person's presence opens: the users whose presence counts, and the place
/// of the slot's key.
///
/// The terms are part of the slot's record: in the clear, and authenticated when the slot is opened.
public struct PresenceTerms: Hashable, Sendable {
  /// The highest number of users that a slot may list.
  public static let maximumUsers = 64
  /// The largest locator in bytes.
  public static let maximumLocator = 1024
  /// The highest number of finger names that a slot may record.
  public static let maximumFingers = 256

  /// The name of the keystore that holds the slot's key.
  public let keystore: String
  /// The locator by which the keystore finds the key again. Not secret.
  public let locator: [UInt8]
  /// The users whose presence counts, ascending.
  public let users: [UInt32]
  /// The names of the fingers that were enrolled for these users when the slot was made, sorted. A different set of
  /// names voids the slot.
  public let fingers: [String]

  /// Checks the terms against the limits.
  ///
  /// - Throws: ``CryptoError/limits(_:)`` for anything above the limits, and for an empty list of users.
  public init(keystore: String, locator: [UInt8], users: [UInt32], fingers: [String]) throws(CryptoError) {
    guard !keystore.isEmpty, keystore.utf8.count <= 32 else {
      throw .limits("the name of a keystore has 1 to 32 bytes")
    }
    guard locator.count <= Self.maximumLocator else { throw .limits("a locator has up to 1024 bytes") }
    guard (1...Self.maximumUsers).contains(Set(users).count) else { throw .limits("a slot lists 1 to 64 users") }
    guard fingers.count <= Self.maximumFingers, fingers.allSatisfy({ (1...64).contains($0.utf8.count) }) else {
      throw .limits("a slot lists up to 256 fingers of 1 to 64 bytes")
    }
    self.keystore = keystore
    self.locator = locator
    self.users = Set(users).sorted()
    self.fingers = Set(fingers).sorted()
  }
}

// The fields of a slot's record that hold the terms. The numbers are part of the format.
//
//   1  keystore, UTF-8    2  locator    3  users, 4 bytes each    4  fingers, UTF-8, each ended by a NUL
extension PresenceTerms {
  private enum Field {
    static let keystore: UInt8 = 1
    static let locator: UInt8 = 2
    static let users: UInt8 = 3
    static let fingers: UInt8 = 4
  }

  var extensions: Extensions {
    Extensions([
      (Field.keystore, Array(keystore.utf8)),
      (Field.locator, locator),
      (Field.users, users.flatMap { user in (0..<4).map { UInt8(truncatingIfNeeded: user >> ($0 * 8)) } }),
      (Field.fingers, fingers.flatMap { Array($0.utf8) + [0] }),
    ])
  }

  init(_ extensions: Extensions) throws(CryptoError) {
    guard let keystore = extensions.field(Field.keystore), let name = Self.text(keystore[...]),
      let locator = extensions.field(Field.locator),
      let users = extensions.field(Field.users), users.count % 4 == 0,
      let fingers = extensions.field(Field.fingers), fingers.last ?? 0 == 0
    else { throw .malformed("slot terms") }
    var names: [String] = []
    for finger in fingers.dropLast().split(separator: 0, omittingEmptySubsequences: false) where !fingers.isEmpty {
      guard let name = Self.text(finger) else { throw .malformed("slot terms") }
      names.append(name)
    }
    try self.init(
      keystore: name, locator: locator,
      users: stride(from: 0, to: users.count, by: 4).map { start in
        (0..<4).reduce(0) { $0 | UInt32(users[start + $1]) << ($1 * 8) }
      },
      fingers: names)
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String? { String(validating: bytes, as: UTF8.self) }
}
