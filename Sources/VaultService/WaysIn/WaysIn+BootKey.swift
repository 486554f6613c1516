internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Finding the boot key, and making one for a new vault.
extension WaysIn {
  var bootKey: BootKey { vault.settings.bootKey ?? .file(vault.directory + "/boot.key") }

  /// Opens the `always` items. A file or a credential is there at once; the TPM takes its time, and the loop goes on.
  func openAlways(_ keychain: Keychain) {
    let bootKey = bootKey
    if case .tpm2 = bootKey { vault.store.awaitBootKey() }
    fetchBootKey(vault: keychain.vaultID) { [unowned self] fetched in
      // On a copy: whoever hears that keys were taken may ask for the store.
      var store = vault.store
      store.openAlways(fetched, from: bootKey)
      vault.store = store
      // In a later turn: whoever called here may still hold a helper's answer.
      vault.waiting.go(.bootKey) { [unowned self] in !vault.store.isAwaitingBootKey }
    }
  }

  /// Reads the boot key of this vault from where the settings say; the result calls it off, and `then` may come all the
  /// same.
  @discardableResult
  func fetchBootKey(
    vault: [UInt8], then: @escaping (consuming Result<SecureBytes, KeystoreError>) -> Void
  ) -> () -> Void {
    let bootKey = bootKey
    do throws(KeystoreError) {
      let content = try bootKey.content(credentials: credentials)
      guard case .tpm2 = bootKey else {
        then(.success(content))
        return {}
      }
      // What the TPM sealed is no secret.
      let sealed = content.withBytes { $0.array }
      return keystores.fetch(sealed, from: .tpm2, vault: vault, then: then)
    } catch {
      then(.failure(error))
      return {}
    }
  }

  /// The reason why a new vault cannot have its boot key where the settings say, as far as that shows beforehand.
  func bootKeyObstacle() -> KeystoreError? {
    guard case .credential = bootKey else { return nil }
    do throws(KeystoreError) { _ = try bootKey.content(credentials: credentials) } catch { return error }
    return nil
  }

  /// Gives up each vault that is being made, because the settings name another place for the boot key now: what was looked
  /// at beforehand was the old one, where nobody would find the key.
  func giveUpNewVaults() {
    let refusal = Refusal.busy("the settings of the boot key were changed meanwhile, so no vault was made")
    conversations.each { if $0.makesVault { $0.fail(refusal) } }
    hooks.bootKeyMoves(refusal)
  }

  /// Makes the boot key of a new vault, or takes the credential. Nothing is on the disk yet. The result calls it off, and
  /// wipes the key.
  func newBootKey(
    vault: [UInt8], then: @escaping (consuming Result<NewBootKey, KeystoreError>) -> Void
  ) -> () -> Void {
    switch bootKey {
    case .credential:
      do throws(KeystoreError) {
        then(.success(NewBootKey(key: try bootKey.content(credentials: credentials), file: nil, sealed: nil)))
      } catch {
        then(.failure(error))
      }
    case .file:
      let key = RandomBytes.secret(count: SlotRecord.presenceKeyCount)
      then(.success(NewBootKey(key: key, file: bootKey.file(credentials: nil), sealed: nil)))
    case .tpm2:
      let key = RandomBytes.secret(count: SlotRecord.presenceKeyCount)
      let file = bootKey.file(credentials: nil)
      let kept = Handover(key.withBytes { SecureBytes(copying: $0) })
      let giveUp = keystores.store(key, in: .tpm2, vault: vault) { stored in
        switch stored {
        case .success(let sealed):
          guard let key = kept.take() else { return }
          then(.success(NewBootKey(key: key, file: file, sealed: sealed)))
        case .failure(let error): then(.failure(error))
        }
      }
      return {
        _ = kept.take()
        giveUp()
      }
    }
    return {}
  }
}

/// The boot key of a vault that is being made, and what has to lie on the disk for it.
struct NewBootKey: ~Copyable {
  let key: SecureBytes
  /// Nil for a credential, which is there already.
  let file: KeyFile?
  /// The sealed key; nil where the key itself goes into the file.
  let sealed: [UInt8]?

  /// Writes the file, over one that an unfinished init may have left.
  func write() throws(SystemError) {
    guard let file else { return }
    if let sealed {
      // Bytes have no padding: all are initialized.
      try unsafe file.write(sealed.span.bytes)
    } else {
      try key.withBytes { bytes throws(SystemError) in try file.write(bytes) }
    }
  }
}
