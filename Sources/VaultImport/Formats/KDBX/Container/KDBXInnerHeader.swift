internal import VaultWire

/// An attachment.
enum KDBXBinary: Hashable {
  case bytes([UInt8])
  /// The size of one that no item has room for.
  case tooLarge(Int)
}

/// The header within the encrypted content of a KDBX 4 file (KeePass: KdbxFile.cs, `KdbxInnerHeaderFieldID`).
enum KDBXInnerHeader {
  private enum Field: UInt8 { case end, stream, streamKey, binary }

  /// Reads the header; the document follows in the stream.
  static func read(
    _ stream: inout StreamReader, _ budget: inout KDBXBudget
  ) throws(ImportFailure) -> (KDBXProtection, [KDBXBinary]) {
    var (number, key): (UInt64, [UInt8]) = (0, [])
    var binaries: [KDBXBinary] = []
    while true {
      let (type, size) = (try stream.take(1)[0], try stream.take(4).littleEndian)
      guard let count = Int(exactly: size) else { throw .cutOff }
      switch Field(rawValue: type) {
      case .end:
        try stream.skip(count)
        return (try KDBXProtection(number, key: key), binaries)
      case .stream: number = try short(&stream, count).littleEndian
      case .streamKey: key = try short(&stream, count)
      case .binary:
        // The first byte tells whether KeePass encrypts the bytes in its memory.
        guard count > 0 else { throw ImportFailure(.damaged, "an attachment of the database has no flags") }
        try stream.skip(1)
        try budget.take(64)
        if count - 1 > ImportedField.longestValue {
          try stream.skip(count - 1)
          binaries.append(.tooLarge(count - 1))
        } else {
          try budget.take(count)
          binaries.append(.bytes(try stream.take(count - 1)))
        }
      case nil: try stream.skip(count)
      }
    }
  }

  private static func short(_ stream: inout StreamReader, _ count: Int) throws(ImportFailure) -> [UInt8] {
    guard count <= 1024 else { throw ImportFailure(.damaged, "a field of the inner header is too long") }
    return try stream.take(count)
  }
}
