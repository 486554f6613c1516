internal import VaultModel
internal import VaultSigning

/// The time for which the loop computes with a value that is stored, in microseconds, as measured on one core of a
/// small server. A gateway takes a few times as long.
enum KeyCost {
  /// The length of a turn of the loop.
  static let turn = Int(Turns.length / 1000)

  /// The highest cost of checking a value that an item keeps, if the type of its key is not known.
  static let mostOfKept = KeyType.allCases.map(\.facts.checkTime).max() ?? 0

  /// The cost of checking a private key that was given.
  static func check(_ key: KeyOutline) -> Int {
    // No signature is made with a large key if many are stored; see ``KeyCheck``.
    key.isLarge ? 400 : key.type.facts.checkTime
  }

  /// The cost of generating a value, and of checking it like one that was given.
  static func make(_ recipe: NewValue.Recipe) -> Int {
    switch recipe {
    case .password(let length, _): return length / 32
    case .phrase(let words): return words
    // A key that takes long is made by another process, and never in a call for many items.
    case .key(let recipe): return recipe.facts.time ?? 0
    }
  }

  /// The cost of checking a value for an item with that use.
  static func check(_ value: RawSpan, for use: KeyUse) -> Int {
    use.facts.takesPrivateKeys ? KeyOutline(ofPEM: value).map(check) ?? 0 : 0
  }

  /// The cost of checking that a value has the form of its kind.
  static func look(_ kind: ItemKind, at bytes: Int) -> Int {
    switch kind.facts.form {
    case .line: kind == .totp ? 100 : 0
    case .text, .bytes: 0
    case .pem: (40 * bytes) >> 10
    }
  }

  /// The use of an item's key, and the cost of checking the key again, as a change of the item's attributes does.
  struct Known {
    let use: KeyUse
    let time: Int

    init(use: KeyUse, time: Int) { (self.use, self.time) = (use, time) }

    /// Creates the record of an item's key; nil for an item without a use.
    init?(_ item: ItemInfo) {
      guard let use = item.use else { return nil }
      // Bytes have no padding.
      let outline = item.publicKey.flatMap { KeyOutline(ofSSHBlob: unsafe $0.span.bytes) }
      self.init(use: use, time: outline.map(KeyCost.check) ?? 0)
    }
  }
}
