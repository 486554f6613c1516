internal import VaultBytes
internal import VaultCore
internal import VaultStore

/// Texts that are kept sealed to the vault's public key, so that nothing in memory tells them while names are hidden.
struct SealedTexts {
  let sealed: [UInt8]

  /// The bytes that they take.
  var count: Int { sealed.count }

  /// - Parameter sealed: what an earlier daemon has sealed.
  init(sealed: [UInt8]) { self.sealed = sealed }

  init(_ texts: [String], in vault: Vault) throws(KeyringFault) {
    let plain = Self.encode(texts)
    guard let keychain = vault.openKeychain else { throw .isLocked }
    do throws(VaultError) {
      sealed = try plain.withBytes { (bytes: RawSpan) throws(VaultError) in try keychain.seal(bytes) }
    } catch {
      throw KeyringFault(vault.refusal(error, ""))
    }
  }

  /// Opens the texts; nil if they were sealed to another key.
  func open(in vault: Vault) throws(KeyringFault) -> [String]? {
    guard let keychain = vault.openKeychain else { throw .isLocked }
    let plain: SecureBytes?
    do throws(VaultError) { plain = try keychain.open(sealed: sealed) } catch {
      throw KeyringFault(vault.refusal(error, ""))
    }
    switch consume plain {
    case .some(let plain): return plain.withBytes { Self.decode($0) }
    case .none: return nil
    }
  }

  // MARK: The encoding

  /// Writes texts, each with its size in four bytes before it.
  private static func encode(_ texts: [String]) -> SecureBytes {
    SecureBytes(count: texts.reduce(0) { $0 + 4 + $1.utf8.count }) { out in
      var place = 0
      for text in texts {
        let count = UInt32(text.utf8.count)
        for shift in 0..<4 { out.set(UInt8(truncatingIfNeeded: count >> (8 * shift)), at: place + shift) }
        out.copy(unsafe text.utf8.span.bytes, at: place + 4)  // UTF-8 has no padding.
        place += 4 + text.utf8.count
      }
    }
  }

  private static func decode(_ bytes: RawSpan) -> [String]? {
    var texts: [String] = []
    var place = 0
    while place < bytes.byteCount {
      guard bytes.byteCount - place >= 4 else { return nil }
      let count = (0..<4).reduce(0) { $0 | Int(bytes.byte(place + $1)) << (8 * $1) }
      guard count <= bytes.byteCount - place - 4 else { return nil }
      let text = bytes.extracting(place + 4..<place + 4 + count)
      texts.append(String(decoding: (0..<count).map { text.byte($0) }, as: UTF8.self))
      place += 4 + count
    }
    return texts
  }
}
