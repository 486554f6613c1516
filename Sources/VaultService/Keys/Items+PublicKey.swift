internal import VaultCore
package import VaultModel
internal import VaultSigning
internal import VaultStore

/// The public half of a key, in a form that other programs read.
package struct ToldPublicKey: Sendable {
  package enum Format: String, CaseIterable, Sendable {
    case spki, openssh, jwk, jwks
  }

  package let text: String
  /// The fingerprint, in the form that OpenSSH shows.
  package let fingerprint: String
}

extension Items {
  /// The public half of an item's key. A public half that is stored with the item belongs to what may be known of the
  /// item without its value, so it is available while the vault is locked. Any other public half, such as that of a
  /// replaced key, is computed from the private key, so the item must not be locked then.
  ///
  /// - Throws: the refusal for a caller who may neither find nor use the item, and if there is no public half.
  package func publicKey(
    _ name: ItemName, _ format: ToldPublicKey.Format, for caller: Caller
  ) throws(Refusal) -> ToldPublicKey {
    try vault.audit.recording(.find, caller, name, detail: "public key") { id throws(Refusal) in
      let permit = access.permit(caller, on: name)
      guard permit.mayHave(.find) || permit.mayHave(.use) else { throw permit.isUndecided ? vault.locked : denied }
      let item = try item(name)
      id = item.id
      let rights = permit[item.policy.accessible]
      guard rights.contains(.find) || rights.contains(.use) else { throw denied }
      guard item.use?.facts.takesPrivateKeys == true else { throw .wrongUse(name.text, use: item.use) }
      let key = try publicKey(of: item)
      let text: String
      switch format {
      case .spki: text = key.pem
      case .openssh: text = key.openSSH(comment: name.text)
      case .jwk: text = Self.jwk(key, of: item)
      case .jwks:
        // A key that was restored from an older version would be in the set twice.
        var keys = [key]
        for replaced in try replacedKeys(of: item) where !keys.contains(replaced) { keys.append(replaced) }
        text = #"{"keys":[\#(keys.map { Self.jwk($0, of: item) }.joined(separator: ","))]}"#
      }
      return ToldPublicKey(text: text, fingerprint: key.fingerprint)
    }
  }

  /// The public half of an item's current key. If an earlier version of the program has stored the key without its
  /// public half, the public half is computed from the private key.
  func publicKey(of item: ItemInfo) throws(Refusal) -> PublicKey {
    do throws(KeyError) {
      // Bytes have no padding.
      if let blob = item.publicKey { return try PublicKey(sshBlob: unsafe blob.span.bytes) }
    } catch {
      throw .invalidValue(kind: "", reason: error.reason)
    }
    guard item.use == .ssh else {
      throw .needsAnotherItem(kind: "", reason: "the key is plain bytes, which have no public half")
    }
    guard let key = try publicKey(ofVersion: item.current.number, of: item) else {
      throw .invalidValue(kind: "", reason: "there is no private key")
    }
    return key
  }

  /// The public half of one version of a key; nil if that version is plain bytes. The first time, the version is opened
  /// to compute the public half.
  func publicKey(ofVersion version: Int, of item: ItemInfo) throws(Refusal) -> PublicKey? {
    let keychain = try vault.keychain()
    // The private half does not leave this call.
    let isComputed: (ItemInfo) -> Decision = { _ in .allowWithin }
    let read: Result<PublicKey?, KeyError>
    let digest: Digest
    do throws(VaultError) {
      digest = try keychain.digest(ofValue: item.name, version: version)
      if let key = known.key(digest) { return key }
      read = try keychain.withValue(
        of: item.name, version: version, now: vault.clock.wall(), evenExpired: true, if: isComputed
      ) { _, _, value in
        guard KeyCheck.isPEM(value) else { return .success(nil) }
        do throws(KeyError) { return .success(try PrivateKey(value).publicKey) } catch { return .failure(error) }
      }
    } catch {
      throw error == .locked ? vault.locked : vault.refusal(error, item.name.text)
    }
    do throws(KeyError) {
      let key = try read.get()
      if let key { known.computed(key, of: digest) }
      return key
    } catch { throw .invalidValue(kind: "", reason: error.reason) }
  }

  /// A key as JSON Web Key; for a key that signs tokens, with its name in tokens.
  private static func jwk(_ key: PublicKey, of item: ItemInfo) -> String {
    guard item.use == .jwt, let scheme = key.type.facts.tokenScheme else { return key.jwk }
    return #"{"alg":"\#(scheme.facts.joseName)","kid":"\#(key.jwkThumbprint)","use":"sig","# + key.jwk.dropFirst()
  }
}
