internal import VaultCore
internal import VaultModel
internal import VaultService

/// The place in a search that a page ended at, as it is told to a client: a text that means something to one vault, for
/// one user with the same rights as then and the same query alone, and nothing to whoever looks into it.
///
/// It is sealed, because it holds a row's number, which would tell how many items stand between those that the user may
/// see. The key comes from that of `always` items, so that a search goes on after the daemon was started again.
struct FindCursor {
  /// Those to whom a cursor means something.
  struct Owner {
    let key: SecretBox
    let uid: UInt32
    /// The search, whose parts have their lengths before them.
    let search: [UInt8]

    /// - Parameters:
    ///   - key: ``Vault/cursorKey()``.
    ///   - query: its text.
    ///   - isOfTrash: true where it is for what is in the trash.
    ///   - reach: the areas that whoever searches may see.
    init(_ key: SecretBox, uid: UInt32, query: String, isOfTrash: Bool, reach: [UInt64]) {
      (self.key, self.uid) = (key, uid)
      let query = Array(query.utf8)
      search =
        FindCursor.bytes(of: UInt64(query.count)) + query + [isOfTrash ? 1 : 0] + reach.flatMap(FindCursor.bytes)
    }
  }

  let place: SearchPlace

  init(_ place: SearchPlace) { self.place = place }

  /// Reads what a client sent back; nil unless it is what ``text(for:)`` gave for the same owner.
  init?(_ text: String, of owner: Owner) {
    var plain = [UInt8](repeating: 0, count: 2 * UInt64.bitWidth / 8)
    let sealed = Self.bytes(text)
    guard sealed.count == plain.count + AEAD.overhead else { return nil }
    var span = plain.mutableSpan
    // Bytes have no padding: all are initialized, here as below.
    var room = unsafe span.mutableBytes
    do throws(CryptoError) {
      try unsafe AEAD.open(
        sealed.span.bytes, key: owner.key.bytes, associatedData: Self.words(owner), into: &room)
    } catch { return nil }
    place = SearchPlace(area: Self.number(plain[..<8]), row: Int64(bitPattern: Self.number(plain[8...])))
  }

  /// The place in words of the wire.
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

  /// The bytes that pairs of hexadecimal digits stand for; none where the text is something else.
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
  /// Reads a cursor that a call gives, which has to be one that its caller was told of the same search.
  func place(_ text: String?, _ owner: FindCursor.Owner) throws(Refusal) -> SearchPlace? {
    guard let text else { return nil }
    guard let cursor = FindCursor(text, of: owner) else { throw .invalid("after") }
    return cursor.place
  }

  /// Those to whom a place in a search means something.
  func searcher(
    _ query: String, ofTrash isOfTrash: Bool, _ connection: VarlinkConnection
  ) throws(Refusal) -> FindCursor.Owner {
    let reach = try items.reach(ofTrash: isOfTrash, for: connection.caller)
    return FindCursor.Owner(
      try vault.cursorKey(), uid: connection.caller.uid, query: query, isOfTrash: isOfTrash, reach: reach)
  }
}
