internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The form in which a protocol carries a value. Values to store must have it as well, so that no program can store a
/// value that the same program could not get again.
enum CarriedForm {
  /// A line of the message.
  case line
  /// One line of text, as a string in JSON.
  case textLine
  /// Text, as a string in JSON.
  case text

  /// The rule that the bytes break, in words; nil if they have this form.
  func obstacle(in bytes: RawSpan) -> String? {
    switch self {
    case .line: OneLine.holds(bytes) ? nil : "holds a line break, a carriage return or a NUL"
    case .textLine: CarriedForm.line.obstacle(in: bytes) ?? CarriedForm.text.obstacle(in: bytes)
    case .text: bytes.isText ? nil : "is not text"
    }
  }

  /// Throws if an item's value does not have this form.
  func check(_ value: RawSpan, of item: String) throws(Failure) {
    guard let obstacle = obstacle(in: value) else { return }
    throw Failure(
      .invalid, "\(Printable.quoted(item)) \(obstacle), which this protocol cannot carry", "store another value")
  }

  /// Throws if a value that another program sent does not have this form, so that it must not be stored.
  func checkNew(_ value: RawSpan, _ name: String = "the secret", of item: String) throws(Failure) {
    guard let obstacle = obstacle(in: value) else { return }
    throw Failure(
      .invalid,
      "\(name) \(obstacle), which this protocol cannot carry, so nothing was stored for \(Printable.quoted(item))")
  }
}

/// The check of a value that is sent as a line and must therefore be a single line.
enum OneLine {
  /// Throws if a line break or a NUL is among the bytes, which would change the message to the other program.
  static func check(_ value: RawSpan, of item: String) throws(Failure) {
    try CarriedForm.line.check(value, of: item)
  }

  static func holds(_ value: RawSpan) -> Bool {
    let bytes = Span<UInt8>(_bytes: value)
    return bytes.indices.allSatisfy { bytes[$0] != 0x0A && bytes[$0] != 0x0D && bytes[$0] != 0 }
  }
}
