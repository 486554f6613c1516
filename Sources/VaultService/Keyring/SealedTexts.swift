internal import VaultBytes
internal import VaultCore
internal import VaultStore

/// Texts that are kept sealed to the vault's public key, so that nothing in memory tells them while names are hidden.
/// They are kept unsealed without a store, because there is nothing to hide, and if they cannot be sealed in a vault
/// that does not hide names.
final class SealedTexts {
  private enum Content {
    case sealed([UInt8])
    case plain(SecretBox)
  }

  private var content: Content

  /// The bytes that they take.
  var count: Int {
    switch content {
    case .sealed(let bytes): bytes.count
    case .plain(let box): box.bytes.count
    }
  }

  /// The sealed bytes; nil if the texts are not sealed.
  var sealed: [UInt8]? { if case .sealed(let bytes) = content { bytes } else { nil } }

  init(_ texts: [String], in vault: Vault) throws(KeyringFault) {
    content = .plain(SecretBox(Self.encode(texts)))
    guard vault.openKeychain != nil else { return }
    do throws(VaultError) { try seal(in: vault) } catch {
      if vault.settings.hideNames { throw KeyringFault(vault.refusal(error, "")) }
    }
  }

  /// - Parameter sealed: what an earlier daemon has sealed.
  init(sealed: [UInt8]) { content = .sealed(sealed) }

  /// Seals texts that are kept as they are, if there is a store now.
  func seal(in vault: Vault) throws(VaultError) {
    guard case .plain(let box) = content, let keychain = vault.openKeychain else { return }
    content = .sealed(try box.bytes.withBytes { (bytes: RawSpan) throws(VaultError) in try keychain.seal(bytes) })
  }

  /// Opens the texts if the vault's present key can, and keeps them unsealed until they are sealed to another key.
  func unseal(in vault: Vault) {
    guard case .sealed(let sealed) = content, let keychain = vault.openKeychain else { return }
    let plain: SecureBytes?
    do throws(VaultError) { plain = try keychain.open(sealed: sealed) } catch { return }
    switch consume plain {
    case .some(let plain): content = .plain(SecretBox(plain))
    case .none: break
    }
  }

  /// Opens the texts; nil if they were sealed to another key.
  func open(in vault: Vault) throws(KeyringFault) -> [String]? {
    switch content {
    case .plain(let box): return box.bytes.withBytes { Self.decode($0) }
    case .sealed(let sealed): return try Self.open(sealed, in: vault)
    }
  }

  private static func open(_ sealed: [UInt8], in vault: Vault) throws(KeyringFault) -> [String]? {
    guard let keychain = vault.openKeychain else { throw .isLocked }
    let plain: SecureBytes?
    do throws(VaultError) { plain = try keychain.open(sealed: sealed) } catch {
      throw KeyringFault(vault.refusal(error, ""))
    }
    switch consume plain {
    case .some(let plain): return plain.withBytes { decode($0) }
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
