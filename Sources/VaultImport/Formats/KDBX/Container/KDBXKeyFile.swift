internal import VaultBytes
internal import VaultWire

/// The key in a key file, in all forms that KeePass reads (KeePass: KcpKeyFile.cs, KfxFile.cs).
enum KDBXKeyFile {
  /// The part of the composite key.
  ///
  /// - Throws: ``ImportFailure`` for a key file in XML whose checksum does not match.
  static func key(_ bytes: [UInt8]) throws(ImportFailure) -> [UInt8] {
    if let key = try xmlKey(bytes) { return key }
    if bytes.count == 32 { return bytes }
    if bytes.count == 64, let key = [UInt8](hex: String(decoding: bytes, as: UTF8.self)) { return key }
    return try KDBXDigest.sha256(bytes[...])
  }

  /// The key in a file of XML, whose version 1 holds base64, and version 2 hexadecimal digits and the first bytes of
  /// their hash; nil for any other file.
  private static func xmlKey(_ bytes: [UInt8]) throws(ImportFailure) -> [UInt8]? {
    guard bytes.count <= 1 << 20, let file = try? XMLElement(document: bytes), file.name == "KeyFile",
      let version = file.child("Meta")?.child("Version")?.string, let data = file.child("Key")?.child("Data")
    else { return nil }
    let text = String(data.string.filter { !$0.isWhitespace })
    if version.hasPrefix("1") {
      guard let key = [UInt8](base64: text), !key.isEmpty else { return nil }
      return key
    }
    guard version.hasPrefix("2"), let key = [UInt8](hex: text), !key.isEmpty else { return nil }
    let hash = data.attributes.first { $0.name == "Hash" }?.value ?? ""
    guard let expected = [UInt8](hex: String(hash.filter { !$0.isWhitespace })),
      try KDBXDigest.sha256(key[...]).starts(with: expected), !expected.isEmpty
    else { throw ImportFailure(.damaged, "the key file is damaged: its checksum does not match") }
    return key
  }
}
