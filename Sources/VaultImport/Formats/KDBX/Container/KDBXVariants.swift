internal import VaultWire

/// A dictionary in the header of a KDBX 4 file (KeePass: VariantDictionary.cs).
struct KDBXVariants {
  private var numbers: [String: UInt64] = [:]
  private var arrays: [String: [UInt8]] = [:]

  /// - Throws: ``ImportFailure`` for bytes that break the form, and for names that occur twice.
  init(_ bytes: ArraySlice<UInt8>) throws(ImportFailure) {
    guard bytes.count >= 2, bytes.prefix(2).littleEndian >> 8 == 1 else { throw Self.damaged }
    var rest = bytes.dropFirst(2)
    func take(_ count: UInt64) throws(ImportFailure) -> ArraySlice<UInt8> {
      guard let count = Int(exactly: count), count <= rest.count else { throw Self.damaged }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
    while let type = try take(1).first, type != 0 {
      let name = String(decoding: try take(take(4).littleEndian), as: UTF8.self)
      let value = try take(take(4).littleEndian)
      guard numbers[name] == nil, arrays[name] == nil else { throw Self.damaged }
      switch (type, value.count) {
      // Numbers of 32 and 64 bits, without and with a sign, and a Boolean value.
      case (0x04, 4), (0x05, 8), (0x0C, 4), (0x0D, 8), (0x08, 1): numbers[name] = value.littleEndian
      // A text and bytes.
      case (0x18, _), (0x42, _): arrays[name] = Array(value)
      default: throw Self.damaged
      }
    }
  }

  private static var damaged: ImportFailure {
    ImportFailure(.damaged, "a dictionary in the header of the database is damaged")
  }

  func number(_ name: String) throws(ImportFailure) -> UInt64 {
    guard let number = numbers[name] else { throw Self.missing(name) }
    return number
  }

  func bytes(_ name: String) throws(ImportFailure) -> [UInt8] {
    guard let bytes = arrays[name] else { throw Self.missing(name) }
    return bytes
  }

  func optionalBytes(_ name: String) -> [UInt8]? { arrays[name] }

  private static func missing(_ name: String) -> ImportFailure {
    ImportFailure(.damaged, "the header of the database lacks the parameter \(name)")
  }
}
