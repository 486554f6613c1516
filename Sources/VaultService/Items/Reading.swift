package import VaultModel

/// A call for the value of one item, or for something made with it: the caller, its words, and the terms of the call.
package struct Reading {
  package let name: ItemName
  let caller: Caller
  let said: Said
  /// The version whose value is wanted; nil for the current one.
  let version: Int?
  /// True to open the value also if the item has expired.
  let evenExpired: Bool
  /// The most bytes of a version; if the item has a longer version, its value is not lent, and the caller may wait for
  /// ``Wait/room``.
  let longest: Int
  /// The unit's credential for which the value is read.
  let credential: UnitCredential?

  package init(
    _ name: ItemName, version: Int? = nil, evenExpired: Bool = false, upTo longest: Int = .max,
    as credential: UnitCredential? = nil, for caller: Caller, _ said: Said = Said()
  ) {
    (self.name, self.caller, self.said) = (name, caller, said)
    (self.version, self.evenExpired, self.longest, self.credential) = (version, evenExpired, longest, credential)
  }

  /// True when an item that the caller may read, or use, suits the call.
  ///
  /// - Parameter use: the use that the key must be made for; nil for a call that reads the value.
  func suits(_ item: ItemInfo, for use: KeyUse?) -> Bool {
    if let use { return item.use == use }
    if longest < .max, item.versions.contains(where: { $0.size > longest }) { return false }
    return credential.map { item.current.size <= $0.most } ?? true
  }

  /// The wait of a call that the item does not suit.
  ///
  /// - Throws: the refusal of a call that no wait helps.
  func waitFor(unsuitable item: ItemInfo, for use: KeyUse?) throws(Refusal) -> Wait {
    if let use {
      throw use == .totp ? .wrongKind(name.text, kind: item.kind) : .wrongUse(name.text, use: item.use)
    }
    if let credential, item.versions.allSatisfy({ $0.size <= longest }) { throw .tooLarge(limit: credential.most) }
    return .room
  }
}
