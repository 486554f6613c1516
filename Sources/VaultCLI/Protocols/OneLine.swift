internal import VaultModel
internal import VaultWire

/// The check of a value that is sent as a line and must therefore be a single line.
enum OneLine {
  /// Throws if a line break or a NUL is among the bytes, which would change the message to the other program.
  static func check(_ value: RawSpan, of item: String) throws(Failure) {
    let bytes = Span<UInt8>(_bytes: value)
    guard bytes.indices.allSatisfy({ bytes[$0] != 0x0A && bytes[$0] != 0x0D && bytes[$0] != 0 }) else {
      throw Failure(
        .invalid, "\(Printable.quoted(item)) has a line break or a NUL, which this protocol cannot carry",
        "store it without that")
    }
  }
}
