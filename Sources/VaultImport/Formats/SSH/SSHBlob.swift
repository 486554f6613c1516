internal import VaultBytes

/// A public key as SSH encodes it (RFC 4253, section 6.6): strings with a length of four bytes before each.
struct SSHBlob: Equatable {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The name of the type, which is the first string; nil if there is none.
  var type: String? {
    let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    guard bytes.count >= 4, length <= bytes.count - 4 else { return nil }
    return bytes[4..<4 + length].text
  }

  /// An RSA key of its numbers, big-endian without leading zeros.
  init(rsa exponent: [UInt8], _ modulus: [UInt8]) {
    func number(_ digits: [UInt8]) -> [UInt8] { (digits.first ?? 0) >= 0x80 ? [0] + digits : digits }
    self.init(Self.strings([Array("ssh-rsa".utf8), number(exponent), number(modulus)]))
  }

  /// A key of a curve of NIST (RFC 5656, section 3.1), as an uncompressed point.
  init(curve: String, point: [UInt8]) {
    self.init(Self.strings([Array("ecdsa-sha2-\(curve)".utf8), Array(curve.utf8), point]))
  }

  /// An Ed25519 key (RFC 8709, section 4).
  init(ed25519 key: [UInt8]) { self.init(Self.strings([Array("ssh-ed25519".utf8), key])) }

  private static func strings(_ strings: [[UInt8]]) -> [UInt8] {
    strings.flatMap { string in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: string.count >> $0) } + string
    }
  }
}

/// A line of a public key, such as the content of `id_ed25519.pub` (sshd(8), "AUTHORIZED_KEYS FILE FORMAT").
struct SSHPublicLine {
  let type: String
  let blob: SSHBlob
  let comment: String

  /// Reads the first line; nil if it is no public key.
  init?(_ bytes: [UInt8]) {
    guard let line = TextLines(bytes).makeIterator().first(where: { !$0.trimmed.isEmpty })?.trimmed else { return nil }
    let words = line.split(separator: 0x20, maxSplits: 2).map { $0.trimmed }
    guard words.count >= 2, let blob = [UInt8](base64: words[1].text), blob.count > 4 else { return nil }
    (type, self.blob) = (words[0].text, SSHBlob(blob))
    comment = words.count > 2 ? words[2].text : ""
    guard let stated = self.blob.type, stated.utf8.elementsEqual(type.utf8) else { return nil }
  }

  /// True for a certificate instead of a key.
  var isCertificate: Bool { type.contains("-cert-v01@") }
}
