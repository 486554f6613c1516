/// The place in a search that a page ended at, as it is told to a client: a text that means something to this store alone.
///
/// It is sixteen hexadecimal digits. Clients are told nothing of that, so that it can become something else.
struct FindCursor {
  /// The matches of ``VaultStore/Keychain/find(_:limit:after:now:examining:)``.
  let place: Int64

  init(_ place: Int64) { self.place = place }

  /// Reads what a client sent back; nil unless it is exactly what ``text`` gives.
  init?(_ text: String) {
    guard text.utf8.count == 16, let bits = UInt64(text, radix: 16), let place = Int64(exactly: bits) else {
      return nil
    }
    self.init(place)
    guard self.text == text else { return nil }
  }

  /// The place in words of the wire.
  var text: String {
    let digits = String(UInt64(bitPattern: place), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
