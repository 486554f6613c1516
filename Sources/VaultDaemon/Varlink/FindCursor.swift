internal import VaultService

/// The place in a search that a page ended at, as it is told to a client: a text that means something to this store alone.
///
/// It is thirty-two hexadecimal digits. Clients are told nothing of that, so that it can become something else.
struct FindCursor {
  let place: SearchPlace

  init(_ place: SearchPlace) { self.place = place }

  /// Reads what a client sent back; nil unless it is exactly what ``text`` gives.
  init?(_ text: String) {
    guard text.utf8.count == 32, let area = UInt64(text.prefix(16), radix: 16),
      let bits = UInt64(text.suffix(16), radix: 16), let row = Int64(exactly: bits)
    else { return nil }
    self.init(SearchPlace(area: area, row: row))
    guard self.text == text else { return nil }
  }

  /// The place in words of the wire.
  var text: String { Self.digits(place.area) + Self.digits(UInt64(bitPattern: place.row)) }

  private static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
