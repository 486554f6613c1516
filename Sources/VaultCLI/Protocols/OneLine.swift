internal import VaultModel
internal import VaultWire

/// A value that goes out as a line, and so must be one.
enum OneLine {
  /// Throws for bytes with a line break or a NUL among them, which would say something else to the other program.
  static func check(_ value: RawSpan, of item: String) throws(Failure) {
    let bytes = Span<UInt8>(_bytes: value)
    guard bytes.indices.allSatisfy({ bytes[$0] != 0x0A && bytes[$0] != 0x0D && bytes[$0] != 0 }) else {
      throw Failure(
        .invalid, "\(Printable.quoted(item)) holds a line break or a NUL, which this protocol cannot carry",
        "store it without")
    }
  }
}
