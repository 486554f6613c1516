internal import VaultModel

/// Who stored an item and its versions, as a head has it:
///
///   1  number of texts, 1 or more    then for each: 2  size    …  text of a subject, UTF-8
///   1  creator    1  writer of each version: the place of a text, from 1, or 0 where it is not known
///
/// The texts stand in the order in which they are first needed, none twice.
enum HeadAuthors {
  /// The most bytes that a text has: a uid and the name of a unit.
  static let maximumBytes = 300

  private static func all(_ item: ItemInfo) -> [String?] { [item.creator] + item.versions.map(\.writer) }

  /// Refuses what the encoding has no room for.
  static func validate(_ item: ItemInfo) throws(CryptoError) {
    for text in all(item) {
      if let text, !(1...maximumBytes).contains(text.utf8.count) { throw .limits("author") }
    }
  }

  /// The field's content; nil where nothing is known.
  static func encode(_ item: ItemInfo) -> [UInt8]? {
    let authors = all(item)
    var texts: [String] = []
    let places = authors.map { author -> UInt8 in
      guard let author else { return 0 }
      if let place = texts.firstIndex(where: { $0.utf8.elementsEqual(author.utf8) }) { return UInt8(place + 1) }
      texts.append(author)
      return UInt8(texts.count)
    }
    if texts.isEmpty { return nil }
    return [UInt8(texts.count)] + texts.flatMap(sized) + places
  }

  private static func sized(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    return [UInt8(truncatingIfNeeded: bytes.count), UInt8(bytes.count >> 8)] + bytes
  }

  /// Puts what a field says into an item.
  static func decode(_ bytes: [UInt8], into item: inout ItemInfo) throws(CryptoError) {
    let fault = CryptoError.malformed("author field")
    var rest = bytes[...]
    guard let count = rest.popFirst(), count > 0 else { throw fault }
    var texts: [String] = []
    for _ in 0..<count {
      guard let low = rest.popFirst(), let high = rest.popFirst() else { throw fault }
      let size = Int(low) | Int(high) << 8
      guard rest.count >= size, let text = String(validating: rest.prefix(size), as: UTF8.self) else { throw fault }
      texts.append(text)
      rest = rest.dropFirst(size)
    }
    guard rest.count == 1 + item.versions.count, rest.allSatisfy({ $0 <= count }) else { throw fault }
    let authors = rest.map { $0 == 0 ? nil : texts[Int($0) - 1] }
    item.creator = authors[0]
    for index in item.versions.indices { item.versions[index].writer = authors[index + 1] }
    // One encoding for each head.
    guard encode(item) == bytes else { throw fault }
  }
}
