internal import VaultBytes
internal import VaultWire

extension KDBXBinary {
  /// The size in bytes.
  var count: Int {
    switch self {
    case .bytes(let bytes): bytes.count
    case .tooLarge(let count): count
    }
  }

  /// The memory that the attachment takes.
  var cost: Int {
    switch self {
    case .bytes(let bytes): bytes.count
    case .tooLarge: 0
    }
  }

  /// Reads an attachment in the document: base64, possibly of a file in gzip's format. A protected one is decrypted
  /// already.
  init(_ element: XMLElement) throws(ImportFailure) {
    func has(_ name: String) -> Bool { element.attributes.contains { $0 == (name, "True") } }
    var bytes = element.text
    if !has("Protected") {
      bytes.removeAll { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
      guard let decoded = [UInt8](base64: String(decoding: bytes, as: UTF8.self)) else {
        throw ImportFailure(.damaged, "an attachment of the database is not base64")
      }
      bytes = decoded
    }
    if has("Compressed") { self = try Self.expanded(bytes) } else { self.init(bytes) }
  }

  private init(_ bytes: [UInt8]) {
    self = bytes.count <= ImportedField.longestValue ? .bytes(bytes) : .tooLarge(bytes.count)
  }

  /// Expands a file. Of one that is too large only the size is kept.
  private static func expanded(_ bytes: [UInt8]) throws(ImportFailure) -> KDBXBinary {
    var stream = try Gunzip(SliceStream(bytes[...]))
    var (file, count): ([UInt8], Int) = ([], 0)
    while let piece = try stream.next() {
      count += piece.count
      if count <= ImportedField.longestValue { file += piece }
    }
    return count <= ImportedField.longestValue ? .bytes(file) : .tooLarge(count)
  }
}
