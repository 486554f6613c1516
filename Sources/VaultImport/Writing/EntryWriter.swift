internal import VaultBytes
internal import VaultWire

/// A writer of one format.
///
/// A writer takes entries in the form in which the reader of its format gives them: with the format's own names of
/// fields. `vault` makes them so, because it tells people what a format cannot hold.
protocol EntryWriter {
  /// Writes all entries as one file.
  ///
  /// - Parameter password: The password of the file; nil for a file without one.
  static func write(
    _ entries: [Entry], _ order: ExportOrder, password: [UInt8]?, to output: ExportOutput
  ) throws(ImportFailure)
}

/// The place to which a writer sends the bytes of a file, in their order.
struct ExportOutput {
  /// Takes a part of any size.
  let take: (ArraySlice<UInt8>) throws(ImportFailure) -> Void
}

extension ExportOrder.Format {
  /// The writer of the format.
  var writer: any EntryWriter.Type {
    switch self {
    case .kdbx: KDBXWriter.self
    case .bitwarden: BitwardenWriter.self
    }
  }
}

/// Bytes that nobody can foresee, from the kernel.
enum RandomBytes {
  static func make(_ count: Int) -> [UInt8] {
    // getrandom(2), which the sandbox allows.
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in generator.next() }
  }
}

/// Identifications that stay the same in each export of the same vault, so that an import of a later export knows the
/// entries of an earlier one.
enum StableIdentifier {
  /// The first 16 bytes of the SHA-256 hash of the parts, each of which ends with a zero byte.
  static func bytes(_ parts: [String]) throws(ImportFailure) -> [UInt8] {
    let text: [UInt8] = parts.flatMap { Array($0.utf8) + [UInt8(0)] }
    return Array(try KDBXDigest.sha256(text[...]).prefix(16))
  }

  /// The form of RFC 9562, such as `0b1c…-…`, of version 8.
  static func uuid(_ bytes: [UInt8]) -> String {
    var bytes = bytes
    if bytes.count == 16 { (bytes[6], bytes[8]) = (bytes[6] & 0x0F | 0x80, bytes[8] & 0x3F | 0x80) }
    let digits = Array(bytes.hex.utf8)
    let groups = [digits[..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20...]]
    return groups.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
  }
}

extension [Field] {
  /// The fields of a role.
  func having(_ roles: ImportedField.Role...) -> [Field] { filter { roles.contains($0.role) } }

  /// The text of the first field of a role, read as Unix seconds; nil if there is none.
  func time(_ role: ImportedField.Role) -> Int64? {
    first { $0.role == role }.flatMap { Int64(String(decoding: $0.value, as: UTF8.self)) }
  }

  /// The earlier values, the oldest first: by their times if all have one, or else as they come.
  var earlier: [Field] {
    let old = having(.oldPassword, .oldField)
    guard old.allSatisfy({ $0.time != nil }) else { return old }
    return old.enumerated().sorted { ($0.element.time ?? 0, $0.offset) < ($1.element.time ?? 0, $1.offset) }
      .map(\.element)
  }
}
