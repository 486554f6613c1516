internal import VaultWire

/// The plaintext of an encrypted stream, without the padding of PKCS #7 (RFC 5652 section 6.3) that a block cipher
/// needs.
struct KDBXCipherStream: ByteStream {
  private var input: any ByteStream
  private let cipher: KDBXCipher
  /// The ciphertext that is not decrypted yet: of a block cipher at least one block, which may be the last one.
  private var held: [UInt8] = []
  private var isEnded = false

  init(_ input: any ByteStream, _ cipher: KDBXCipher) { (self.input, self.cipher) = (input, cipher) }

  mutating func next() throws(ImportFailure) -> ArraySlice<UInt8>? {
    let block = cipher.algorithm.blockCount
    while !isEnded {
      guard let piece = try input.next() else {
        isEnded = true
        let last = try end()
        return last.isEmpty ? nil : last
      }
      if block == 1 { return try cipher.decrypt(piece)[...] }
      held += piece
      let count = max(0, held.count - 1) / block * block
      guard count > 0 else { continue }
      defer { held.removeFirst(count) }
      return try cipher.decrypt(held[..<count])[...]
    }
    return nil
  }

  private func end() throws(ImportFailure) -> ArraySlice<UInt8> {
    let block = cipher.algorithm.blockCount
    if block == 1 { return [] }
    guard held.count == block else { throw .cutOff }
    let plain = try cipher.decrypt(held)
    let padding = Int(plain[block - 1])
    guard (1...block).contains(padding), plain.suffix(padding).allSatisfy({ Int($0) == padding }) else {
      throw ImportFailure(.damaged, "the database is damaged: the padding at its end is wrong")
    }
    return plain.dropLast(padding)
  }
}
