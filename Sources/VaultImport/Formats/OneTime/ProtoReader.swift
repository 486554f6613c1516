internal import VaultWire

/// The fields of a message of Protocol Buffers, one after another
/// (https://protobuf.dev/programming-guides/encoding/).
struct ProtoReader {
  enum Value {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// Reads the next field; nil at the end.
  mutating func next() throws(ImportFailure) -> (number: UInt64, value: Value)? {
    if rest.isEmpty { return nil }
    let key = try varint()
    switch key & 7 {
    case 0: return (key >> 3, .number(try varint()))
    case 1: return (key >> 3, .bytes(try take(8)))
    case 2: return (key >> 3, .bytes(try take(varint())))
    case 5: return (key >> 3, .bytes(try take(4)))
    default: throw Self.damaged
    }
  }

  private mutating func varint() throws(ImportFailure) -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = rest.popFirst() else { throw Self.damaged }
      let part = UInt64(byte & 0x7F)
      if shift == 63, part > 1 { throw Self.damaged }
      number |= part << shift
      if byte < 0x80 { return number }
    }
    throw Self.damaged
  }

  private mutating func take(_ count: UInt64) throws(ImportFailure) -> ArraySlice<UInt8> {
    guard count <= UInt64(rest.count) else { throw Self.damaged }
    let taken = rest.prefix(Int(count))
    rest = rest.dropFirst(Int(count))
    return taken
  }

  private static var damaged: ImportFailure { ImportFailure(.damaged, "its data is damaged or cut off") }
}
