internal import VaultModel

/// The creator of an item and the writers of its versions, as a head stores them:
///
///   1  number of texts, 1 or more    then for each: 2  size    …  text of a subject, UTF-8
///   1  creator    1  writer of each version: the place of a text, from 1, or 0 if it is not known
///
/// The texts are in the order in which they are first needed, each once.
enum HeadAuthors {
  /// The highest number of bytes of a text: a uid and the name of a unit.
  static let maximumBytes = 300

  /// Refuses texts for which the encoding has no room.
  static func validate(_ item: ItemInfo) throws(CryptoError) {
    try validate(item.creator)
    for version in item.versions { try validate(version.writer) }
  }

  private static func validate(_ text: String?) throws(CryptoError) {
    if let text, !(1...maximumBytes).contains(text.utf8.count) { throw .limits("author") }
  }

  /// The field's content; nil if no author is known.
  static func encode(_ item: ItemInfo) -> [UInt8]? {
    var texts: [String] = []
    var (content, places): ([UInt8], [UInt8]) = ([0], [])
    func add(_ author: String?) {
      guard let author else { return places.append(0) }
      if let place = texts.firstIndex(where: { $0.utf8.elementsEqual(author.utf8) }) {
        return places.append(UInt8(place + 1))
      }
      texts.append(author)
      let count = author.utf8.count
      content.append(UInt8(truncatingIfNeeded: count))
      content.append(UInt8(count >> 8))
      content.append(contentsOf: author.utf8)
      places.append(UInt8(texts.count))
    }
    add(item.creator)
    for version in item.versions { add(version.writer) }
    if texts.isEmpty { return nil }
    content[0] = UInt8(texts.count)
    return content + places
  }

  /// Copies the authors in a field into an item.
  static func decode(_ bytes: [UInt8], into item: inout ItemInfo) throws(CryptoError) {
    let fault = CryptoError.malformed("author field")
    var rest = bytes[...]
    guard let count = rest.popFirst(), count > 0 else { throw fault }
    var texts: [String] = []
    for _ in 0..<count {
      guard let low = rest.popFirst(), let high = rest.popFirst() else { throw fault }
      let size = Int(low) | Int(high) << 8
      guard 1...maximumBytes ~= size, rest.count >= size,
        let text = String(validating: rest.prefix(size), as: UTF8.self)
      else { throw fault }
      texts.append(text)
      rest = rest.dropFirst(size)
    }
    guard rest.count == 1 + item.versions.count, rest.allSatisfy({ $0 <= count }) else { throw fault }
    let authors = rest.map { $0 == 0 ? nil : texts[Int($0) - 1] }
    item.creator = authors[0]
    for index in item.versions.indices { item.versions[index].writer = authors[index + 1] }
    // Each head has exactly one encoding.
    guard encode(item) == bytes else { throw fault }
  }
}
