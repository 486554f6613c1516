internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Fetching the boot key, and making one for a new vault.
extension WaysIn {
  var bootKey: BootKey { vault.settings.bootKey ?? .file(vault.directory + "/boot.key") }

  /// Opens the `always` items. A file or a credential is read at once; the TPM takes its time, and the loop continues
  /// meanwhile.
  func openAlways(_ keychain: Keychain) {
    let bootKey = bootKey
    if case .tpm2 = bootKey { vault.store.awaitBootKey() }
    fetchBootKey(vault: keychain.vaultID) { [unowned self] fetched in
      // A copy is changed, because the code that is told of the new keys may access the store.
      var store = vault.store
      store.openAlways(fetched, from: bootKey)
      vault.store = store
      // The waiting calls continue in a later turn, because the calling code may still hold a helper's answer.
      vault.waiting.go(.bootKey) { [unowned self] in !vault.store.isAwaitingBootKey }
    }
  }

  /// Opens the `always` items again if the boot key's file was removed or changed since it was read last. Otherwise
  /// nobody would learn of that before the next start of the daemon. During a rekey, the file may have the next key.
  func lookAtBootKey(_ keychain: Keychain) {
    guard !isLookingAtBootKey, let path = bootKey.path, !keychain.isRekeying, !vault.store.isAwaitingBootKey,
      vault.store.bootKeyFile != FileStamp(path)
    else { return }
    // The TPM takes its time, so it is not asked again for a key that is in memory.
    if case .tpm2 = bootKey, vault.store.bootKeyProblem == nil { return }
    // The code that is told of the new keys may ask for the keychain, and with it for another look.
    isLookingAtBootKey = true
    openAlways(keychain)
    isLookingAtBootKey = false
  }

  /// Opens the `always` items with the boot key at another place in the settings.
  func bootKeyHasMoved() {
    guard let keychain = vault.openKeychain, !keychain.isRekeying else { return }
    openAlways(keychain)
  }

  /// Reads the boot key of this vault from the place in the settings.
  ///
  /// - Returns: a closure that cancels the reading; `then` may be called all the same.
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
      // The output of the TPM's seal is no secret.
      let sealed = content.withBytes { $0.array }
      return keystores.fetch(sealed, from: .tpm2, vault: vault, then: then)
    } catch {
      then(.failure(error))
      return {}
    }
  }

  /// The reason why a new vault cannot have its boot key at the place in the settings, as far as it can be determined
  /// beforehand; nil for none.
  func bootKeyObstacle() -> KeystoreError? {
    guard case .credential = bootKey else { return nil }
    do throws(KeystoreError) { _ = try bootKey.content(credentials: credentials) } catch { return error }
    return nil
  }

  /// Ends the making of each new vault, because the settings name another place for the boot key now. The place that
  /// was checked beforehand was the old one, where nobody would look for the key.
  func giveUpNewVaults() {
    let refusal = Refusal.interrupted("the settings of the boot key were changed meanwhile, so no vault was made")
    conversations.each { if $0.makesVault { $0.fail(refusal) } }
    hooks.bootKeyMoves(refusal)
  }

  /// Makes the boot key of a new vault, or reads the credential. Nothing is written to the disk yet.
  ///
  /// - Returns: a closure that cancels the making, and wipes the key.
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

/// The boot key of a vault that is being made, and the file to write for it.
struct NewBootKey: ~Copyable {
  let key: SecureBytes
  /// The file for the key; nil for a credential, which exists already.
  let file: KeyFile?
  /// The sealed key; nil if the file is to contain the key itself.
  let sealed: [UInt8]?

  /// Writes the file; see ``write(_:to:sealed:)``.
  func write() throws(SystemError) { try Self.write(key, to: file, sealed: sealed) }

  /// Tells the person of a file that ``write()`` will keep under another name.
  func tell(_ conversation: Conversation) {
    guard let file, file.exists else { return }
    conversation.tell(
      .info, method: "password",
      text: "There is a \(file.name) at \(file.path) already. It is kept there, with a number after its name.")
  }

  /// Writes a key to `file`, if there is one, or `sealed` in its place. A file that is there is kept under another
  /// name: it may be the key of a vault whose store is away, for example on a disk that is not mounted.
  static func write(_ key: borrowing SecureBytes, to file: KeyFile?, sealed: [UInt8]?) throws(SystemError) {
    guard let file else { return }
    try file.setAside()
    if let sealed {
      // All bytes of the array are initialized, because bytes have no padding.
      try unsafe file.write(sealed.span.bytes)
    } else {
      try key.withBytes { bytes throws(SystemError) in try file.write(bytes) }
    }
  }
}

extension BootKey {
  /// The reason why the key that was found at this place does not open the `always` items. Only an error that is about
  /// the key itself blames the key, because a person may replace it.
  func problem(_ error: VaultError) -> String {
    error == Keychain.wrongBootKey ? "the boot key at \(place) is not this vault's" : error.text
  }
}
