internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A field of an entry as `vault-import` sent it. The value wipes itself.
final class SourceField {
  let facts: ImportedField
  let value: SecretBuffer

  init(_ facts: ImportedField, _ value: consuming SecretBuffer) {
    self.facts = facts
    self.value = value
  }

  /// The value as an attribute holds it; nil if no attribute can hold it, because it is too long, is not UTF-8 or
  /// contains a control character. Not for secrets: an attribute is none, and a `String` cannot be wiped.
  var attributeText: String? {
    guard value.count <= Attributes.maximumValueBytes, let text = value.text() else { return nil }
    do throws(ValueError) { try Attributes.validate(["value": text]) } catch { return nil }
    return text
  }

  /// The value as a time in Unix seconds; nil if it is not one of the years 1970 to 9999.
  var time: Int64? {
    guard value.count <= 20, let time = value.text().flatMap({ Int64($0) }), (0...Timestamp.last).contains(time) else {
      return nil
    }
    return time
  }
}

/// An entry of the source with its fields.
final class SourceEntry {
  let facts: ImportedEntry
  var fields: [SourceField] = []

  init(_ facts: ImportedEntry) { self.facts = facts }
}

extension SecretBuffer {
  /// The bytes as text; nil if they are not UTF-8. Not for secrets, because a `String` cannot be wiped.
  borrowing func text() -> String? {
    withBytes { bytes in
      // The bytes are lent for the call, and `String` copies them.
      unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
  }
}
