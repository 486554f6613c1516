internal import VaultWire

/// The inner encryption of a KDBX file: one key stream over all protected values, in the order of the document.
struct KDBXProtection {
  private let cipher: KDBXCipher?

  /// Takes the number of the algorithm, and its key, as the header has them (`CrsAlgorithm` in KeePass's
  /// CryptoRandomStream.cs).
  init(_ number: UInt64, key: [UInt8]) throws(ImportFailure) {
    switch number {
    case 0: cipher = nil
    case 2:
      let vector: [UInt8] = [0xE8, 0x30, 0x09, 0x4B, 0x97, 0x20, 0x5D, 0x2A]
      cipher = try KDBXCipher(.salsa20, key: KDBXDigest.sha256(key[...]), vector: vector)
    case 3:
      let hash = try KDBXDigest.sha512(key[...])
      cipher = try KDBXCipher(.chaCha20, key: hash[..<32], vector: hash[32..<44])
    default: throw ImportFailure(.unsupported, "the database protects values in an unknown way (\(number))")
    }
  }

  /// Decrypts the next value of the document.
  func decrypt(_ bytes: [UInt8]) throws(ImportFailure) -> [UInt8] { try cipher?.decrypt(bytes) ?? bytes }
}
