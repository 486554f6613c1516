internal import VaultWire

/// The keys that open a KDBX file.
struct KDBXKey {
  /// The key of the cipher, and the one from which the keys of the blocks of KDBX 4 are made.
  let cipher: [UInt8]
  let blocks: [UInt8]

  /// Makes the keys from a composite key.
  init(_ composite: [UInt8], _ header: KDBXHeader, _ derivation: KDBXDerivation) throws(ImportFailure) {
    let (seed, key) = (try header.seed, try derivation.key(from: composite))
    cipher = try KDBXDigest.sha256(seed, key[...])
    blocks = try KDBXDigest.sha512(seed, key[...], [1])
  }

  /// The composite keys that a password and a key file may mean: with an empty password and a key file, there is either
  /// no password, or an empty one.
  static func composites(password: [UInt8]?, keyFile: [UInt8]?) throws(ImportFailure) -> [[UInt8]] {
    var parts: [[UInt8]] = []
    if let password { parts.append(try KDBXDigest.sha256(password[...])) }
    guard let keyFile else { return try parts.map { part throws(ImportFailure) in try KDBXDigest.sha256(part[...]) } }
    let key = try KDBXKeyFile.key(keyFile)
    var composites: [[UInt8]] = []
    if password?.isEmpty ?? true { composites.append(try KDBXDigest.sha256(key[...])) }
    if let hash = parts.first { composites.append(try KDBXDigest.sha256(hash[...], key[...])) }
    return composites
  }
}
