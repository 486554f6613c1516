internal import VaultModel

/// The encoding of an item's facts for a keyring's clients, numbers little-endian:
///
///   8  the number by which clients know the item    8  order
///   1  content type's size    …  content type    4  label's size    …  label
///   2  number of attributes, from 0 to 256, then for each, in ascending order of the keys' bytes:
///        4  key's size    …  key    4  value's size    …  value
///   1  whether there is a time of creation elsewhere, 0 or 1    8  that time, only if there is one
///   1  whether there is a time of the last change elsewhere, 0 or 1    8  that time, only if there is one
///
/// All texts are UTF-8 without NUL.
enum KeyringEncoding {
  static func count(_ facts: KeyringFacts) -> Int {
    8 + 8 + 1 + 4 + 2 + facts.textBytes + facts.attributes.entries.count * (4 + 4)
      + [facts.created, facts.modified].reduce(0) { $0 + 1 + ($1 == nil ? 0 : 8) }
  }

  static func write(_ facts: KeyringFacts, _ writer: inout ByteWriter, _ out: inout MutableRawSpan) {
    writer.int64(Int64(bitPattern: facts.id.number), &out)
    writer.int64(Int64(bitPattern: facts.order), &out)
    writer.uint8(UInt8(facts.contentType.utf8.count), &out)
    writer.text(facts.contentType, &out)
    write(facts.label, &writer, &out)
    writer.uint16(facts.attributes.entries.count, &out)
    for entry in facts.attributes.entries {
      write(entry.key, &writer, &out)
      write(entry.value, &writer, &out)
    }
    for time in [facts.created, facts.modified] {
      writer.uint8(time == nil ? 0 : 1, &out)
      if let time { writer.int64(time, &out) }
    }
  }

  static func read(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> KeyringFacts {
    var facts = KeyringFacts(
      id: KeyringID(number: UInt64(bitPattern: try reader.int64(input))),
      order: UInt64(bitPattern: try reader.int64(input)))
    facts.contentType = try reader.text(Int(try reader.uint8(input)), input)
    facts.label = try text(&reader, input)
    let count = try reader.uint16(input)
    guard count <= KeyringAttributes.maximumCount else { throw .malformed("too many keyring attributes") }
    var entries: [KeyringAttributes.Entry] = []
    entries.reserveCapacity(count)
    for _ in 0..<count {
      let key = try text(&reader, input)
      entries.append(KeyringAttributes.Entry(key: key, value: try text(&reader, input)))
    }
    facts.created = try time(&reader, input)
    facts.modified = try time(&reader, input)
    do throws(ValueError) {
      facts.attributes = try KeyringAttributes(ascending: entries)
      try facts.validate()
    } catch {
      throw .malformed("facts for a keyring")
    }
    return facts
  }

  private static func write(_ text: String, _ writer: inout ByteWriter, _ out: inout MutableRawSpan) {
    writer.uint32(UInt32(text.utf8.count), &out)
    writer.text(text, &out)
  }

  private static func time(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> Int64? {
    switch try reader.uint8(input) {
    case 0: return nil
    case 1: return try reader.int64(input)
    default: throw .malformed("time for a keyring")
    }
  }

  private static func text(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> String {
    let size = try reader.uint32(input)
    guard size <= KeyringFacts.maximumBytes else { throw .malformed("text for a keyring is too long") }
    return try reader.text(Int(size), input)
  }
}
