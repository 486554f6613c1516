internal import VaultModel

/// The subjects and patterns of the grants read so far. The classes hold the same grants, and many grants have the same
/// subject, so most texts are parsed only once.
public struct GrantTexts {
  private var subjects: [String: Subject] = [:]
  private var patterns: [String: ItemPattern] = [:]

  /// Makes an empty collection.
  public init() {}

  mutating func subject(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> Subject {
    let text = try reader.text(try reader.uint16(input), input)
    // Swift may find texts equal that have different bytes.
    if let known = subjects[text], known.description.utf8.elementsEqual(text.utf8) { return known }
    guard let subject = try? Subject(parsing: text), subject.description.utf8.elementsEqual(text.utf8) else {
      throw .malformed("subject of grant")
    }
    subjects[text] = subject
    return subject
  }

  mutating func pattern(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> ItemPattern {
    let text = try reader.text(try reader.uint16(input), input)
    if let known = patterns[text], known.text.utf8.elementsEqual(text.utf8) { return known }
    guard let pattern = try? ItemPattern(text) else { throw .malformed("pattern of grant") }
    patterns[text] = pattern
    return pattern
  }
}
