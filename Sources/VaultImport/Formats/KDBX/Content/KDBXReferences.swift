internal import VaultBytes
internal import VaultWire

/// The references to fields of other entries, such as `{REF:P@I:46C9B1FFBD4ABC4BBB260C6190BAD20C}`
/// (https://keepass.info/help/base/fieldrefs.html).
///
/// A text is searched for as KeePassXC does: it must be the whole field, and the first entry of the document counts.
struct KDBXReferences {
  /// The deepest nesting of references to fields with references.
  private static let deepest = 10
  private static let opening = Array("{REF:".utf8)
  /// The fields that letters stand for.
  private static let keys: [UInt8: String] = [
    UInt8(ascii: "T"): "Title", UInt8(ascii: "U"): "UserName", UInt8(ascii: "P"): "Password",
    UInt8(ascii: "A"): "URL", UInt8(ascii: "N"): "Notes",
  ]

  private let entries: [KDBXEntry]
  /// The number of the entry for each text that was found in a field, by the letter of the field.
  private var numbers: [UInt8: [[UInt8]: Int]] = [:]
  /// The number of bytes that references may still put in, of all fields together.
  private var left = 1 << 30

  init(_ entries: [KDBXEntry]) { self.entries = entries }

  /// A text with its references resolved.
  struct Resolved {
    var text: [UInt8]
    /// The references that stayed as they were.
    var missing: [[UInt8]] = []
  }

  /// Resolves the references in a text.
  ///
  /// - Throws: ``ImportFailure`` if all references together put in too much.
  mutating func resolve(_ text: [UInt8]) throws(ImportFailure) -> Resolved {
    guard text.contains(0x7B), Self.first(in: text[...]) != nil else { return Resolved(text: text) }
    var found = Resolved(text: [])
    // Texts within each other, the innermost one last. An own list, because a file decides how deep they are nested.
    var open = [text[...]]
    while let rest = open.popLast() {
      guard let place = Self.first(in: rest), let end = rest[place...].firstIndex(of: 0x7D) else {
        found.text += rest
        continue
      }
      found.text += rest[..<place]
      open.append(rest[(end + 1)...])
      let reference = rest[place...end]
      try take(64 + reference.count)
      if open.count <= Self.deepest, let value = target(reference), found.text.count <= ImportedField.longestValue {
        try take(value.count)
        open.append(value[...])
      } else {
        found.text += reference
        if found.missing.count < 16 { found.missing.append(Array(reference)) }
      }
    }
    return found
  }

  private mutating func take(_ bytes: Int) throws(ImportFailure) {
    left -= bytes
    guard left >= 0 else { throw ImportFailure(.tooLarge, "the references of the database put in too much text") }
  }

  /// The place of the first opening of a reference, in upper or lower case.
  private static func first(in text: ArraySlice<UInt8>) -> Int? {
    var rest = text
    while let place = rest.firstIndex(of: 0x7B) {
      let candidate = text[place...].prefix(opening.count)
      if candidate.count == opening.count, zip(candidate, opening).allSatisfy({ upper($0) == $1 }) { return place }
      rest = text[(place + 1)...]
    }
    return nil
  }

  private static func upper(_ byte: UInt8) -> UInt8 { (0x61...0x7A).contains(byte) ? byte - 0x20 : byte }

  /// The field to which a reference leads; nil if it leads nowhere.
  private mutating func target(_ reference: ArraySlice<UInt8>) -> [UInt8]? {
    let parts = reference.dropFirst(Self.opening.count).dropLast()
    guard parts.count > 4, let wanted = parts.first, let searched = parts.dropFirst(2).first else { return nil }
    let separators = [parts.dropFirst().first, parts.dropFirst(3).first]
    guard separators == [UInt8(ascii: "@"), UInt8(ascii: ":")] else { return nil }
    let text = Array(parts.dropFirst(4))
    guard let number = number(of: text, in: Self.upper(searched)) else { return nil }
    return fields(of: number, Self.upper(wanted), isSearch: false).first
  }

  /// The first entry that has the text in a field.
  private mutating func number(of text: [UInt8], in letter: UInt8) -> Int? {
    if numbers[letter] == nil {
      var found: [[UInt8]: Int] = [:]
      for number in entries.indices {
        for field in fields(of: number, letter, isSearch: true) where found[field] == nil { found[field] = number }
      }
      numbers[letter] = found
    }
    // Identifications are hexadecimal digits in any case.
    return numbers[letter]?[letter == UInt8(ascii: "I") ? text.map(Self.upper) : text]
  }

  /// The fields of an entry that a letter stands for: title, user name, password, URL, notes, identification, and in a
  /// search all others.
  private func fields(of number: Int, _ letter: UInt8, isSearch: Bool) -> [[UInt8]] {
    let entry = entries[number]
    switch letter {
    case UInt8(ascii: "I"): return [entry.id.utf8.map(Self.upper)]
    case UInt8(ascii: "O"):
      return isSearch ? entry.current.texts.filter { !Self.keys.values.contains($0.key) }.map(\.value) : []
    default:
      guard let key = Self.keys[letter] else { return [] }
      let values = entry.current.texts.filter { $0.key == key }.map(\.value)
      // A field that is missing is an empty one.
      return values.isEmpty && !isSearch ? [[]] : values
    }
  }
}
