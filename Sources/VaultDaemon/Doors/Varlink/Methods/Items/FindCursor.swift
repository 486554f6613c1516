internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultService

/// The place at which a page of a search ended, as a text for the client. It is valid only for one vault, the same
/// query, and the same user with the same rights, and it tells nothing to anyone who inspects it.
///
/// It is sealed because it contains a row's number, which would tell how many items lie between the items that the user
/// may see. The key is derived from the key of `always` items, so that a search can continue after a restart of the
/// daemon.
struct FindCursor {
  /// The owner for whom a cursor is valid.
  struct Owner {
    let key: SecretBox
    let uid: UInt32
    /// The search in bytes: the query after its length, one byte for the trash, and the areas with eight bytes each.
    let search: [UInt8]

    /// - Parameters:
    ///   - key: ``Vault/cursorKey()``.
    ///   - query: the text of the query.
    ///   - isOfTrash: true for a search in the trash.
    ///   - reach: the areas that the searching user may see.
    init(_ key: SecretBox, uid: UInt32, query: String, isOfTrash: Bool, reach: [UInt64]) {
      (self.key, self.uid) = (key, uid)
      let query = Array(query.utf8)
      search =
        FindCursor.bytes(of: UInt64(query.count)) + query + [isOfTrash ? 1 : 0] + reach.flatMap(FindCursor.bytes)
    }
  }

  let place: SearchPlace

  init(_ place: SearchPlace) { self.place = place }

  /// Reads a text that a client sent back; nil unless ``text(for:)`` made it for the same owner.
  init?(_ text: String, of owner: Owner) {
    var plain = [UInt8](repeating: 0, count: 2 * UInt64.bitWidth / 8)
    let sealed = Self.bytes(text)
    guard sealed.count == plain.count + AEAD.overhead else { return nil }
    var span = plain.mutableSpan
    // Bytes have no padding, so all are initialized, here and below.
    var room = unsafe span.mutableBytes
    do throws(CryptoError) {
      try unsafe AEAD.open(
        sealed.span.bytes, key: owner.key.bytes, associatedData: Self.words(owner), into: &room)
    } catch { return nil }
    place = SearchPlace(area: Self.number(plain[..<8]), row: Int64(bitPattern: Self.number(plain[8...])))
  }

  /// The place as a text for the client.
  func text(for owner: Owner) -> String {
    let plain = Self.bytes(of: place.area) + Self.bytes(of: UInt64(bitPattern: place.row))
    return unsafe AEAD.seal(plain.span.bytes, key: owner.key.bytes, associatedData: Self.words(owner)).hex
  }

  // MARK: Parts

  private static func words(_ owner: Owner) -> [UInt8] { Array("user:\(owner.uid) ".utf8) + owner.search }

  fileprivate static func bytes(of number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  /// The bytes that pairs of hexadecimal digits represent; empty when the text is something else.
  private static func bytes(_ text: String) -> [UInt8] {
    let text = Array(text.utf8)
    guard text.count.isMultiple(of: 2), text.allSatisfy({ isDigit($0) || (0x61...0x66).contains($0) }) else {
      return []
    }
    func digit(_ byte: UInt8) -> UInt8 { isDigit(byte) ? byte - 0x30 : byte - 0x57 }
    return stride(from: 0, to: text.count, by: 2).map { digit(text[$0]) << 4 | digit(text[$0 + 1]) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

extension VarlinkDoor {
  /// Reads the cursor of a call, which must come from the same search by the same caller.
  func place(_ text: String?, _ owner: FindCursor.Owner) throws(Refusal) -> SearchPlace? {
    guard let text else { return nil }
    guard let cursor = FindCursor(text, of: owner) else { throw .invalid("after") }
    return cursor.place
  }

  /// Returns the owner of the cursors of a search.
  func searcher(
    _ query: String, ofTrash isOfTrash: Bool, _ connection: VarlinkConnection
  ) throws(Refusal) -> FindCursor.Owner {
    let reach = try items.reach(ofTrash: isOfTrash, for: connection.caller)
    return FindCursor.Owner(
      try vault.cursorKey(), uid: connection.caller.uid, query: query, isOfTrash: isOfTrash, reach: reach)
  }
}
