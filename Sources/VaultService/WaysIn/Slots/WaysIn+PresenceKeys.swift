internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The keys of PAM slots: making, fetching, keeping in memory and removing them.
extension WaysIn {
  /// Makes a slot with a new key in `keystore`. The code that stores a `memory` slot must also keep its key
  /// (``retainKeys(of:_:vaultID:)``). The code that discards a slot instead must remove its key
  /// (``dropPresenceKey(of:vaultID:)``).
  ///
  /// - Returns: a closure that cancels the making: it wipes the key, and ends the helper program that has it. `then`
  ///   may be called all the same.
  func makePresenceSlot(
    id: UInt32, label: String, created: Int64, _ keystore: KeystoreKind, users: [UInt32], fingers: [String],
    vaultKey: Handover, vaultID: [UInt8], then: @escaping (Result<SlotRecord, Refusal>) -> Void
  ) -> () -> Void {
    func make(_ key: Handover, _ locator: [UInt8]) -> Result<SlotRecord, Refusal> {
      let made = vaultKey.withSecret { vaultKey in
        key.withSecret { key -> Result<SlotRecord, Refusal> in
          do throws(CryptoError) {
            let terms = try PresenceTerms(keystore: keystore.rawValue, locator: locator, users: users, fingers: fingers)
            return .success(
              try SlotRecord.make(
                id: id, kind: .pam, label: label, created: created, secret: key, kdf: nil, terms: terms,
                vaultKey: vaultKey, vaultID: vaultID))
          } catch {
            return .failure(Refusal(error))
          }
        }
      }
      return made.flatMap { $0 } ?? .failure(.cancelled)
    }
    if keystore == .memory {
      let key = vaultKey.withSecret { SlotRecord.memoryKey(id: id, vaultKey: $0) }
      switch consume key {
      case .some(let key): then(make(Handover(key), []))
      case .none: then(.failure(.cancelled))
      }
      return {}
    }
    let key = RandomBytes.secret(count: SlotRecord.presenceKeyCount)
    let kept = Handover(key.withBytes { SecureBytes(copying: $0) })
    let giveUp = keystores.store(key, in: keystore, vault: vaultID) { [unowned self] stored in
      switch stored {
      case .success(let locator):
        let made = make(kept, locator)
        _ = kept.take()
        if case .failure = made { removeKey(locator, keystore, vaultID, of: id) }
        then(made)
      case .failure(let error): then(.failure(.unavailable("pam", error.reason)))
      }
    }
    return {
      _ = kept.take()
      giveUp()
    }
  }

  /// Fetches the key of a PAM slot from its keystore. Call this only after PAM said yes, or after a secret opened the
  /// vault.
  ///
  /// - Returns: a closure that cancels the fetch.
  func fetchPresenceKey(
    of slot: SlotRecord, then: @escaping (consuming Result<SecureBytes, KeystoreError>) -> Void
  ) -> () -> Void {
    guard let terms = slot.terms, let kind = KeystoreKind(rawValue: terms.keystore), let keychain = vault.openKeychain
    else {
      then(.failure(KeystoreError(.refused, "slot \(slot.id) has a keystore this program does not know")))
      return {}
    }
    guard kind == .memory else {
      return keystores.fetch(terms.locator, from: kind, vault: keychain.vaultID, then: then)
    }
    switch retained.key(of: slot.id) {
    case .some(let key): then(.success(key))
    case .none:
      let reason = "no key in memory: this is the first unlock \(retained.lostSince)"
      then(.failure(KeystoreError(.notFound, reason)))
    }
    return {}
  }

  /// Keeps the keys of the `memory` slots among `slots`, after a proof with a secret.
  func retainKeys(of slots: [SlotRecord], _ vaultKey: borrowing SecureBytes, vaultID: [UInt8]) {
    for slot in slots where slot.terms?.keystore == KeystoreKind.memory.rawValue {
      let key = SlotRecord.memoryKey(id: slot.id, vaultKey: vaultKey)
      // The record comes from the disk, where other programs may have written, so it counts only if its key opens it.
      if (try? slot.openVaultKey(secret: key, vaultID: vaultID)) != nil {
        retained.keep(key, of: slot.id, now: vault.clock.boot())
      } else {
        vault.log.error("slot \(slot.id) was changed by another program and is ignored; remove it")
      }
    }
    vault.armNext()
  }

  /// Removes the key of a slot from its keystore, after the slot was removed or if it was never stored. If the keystore
  /// cannot be reached, it keeps a key that opens nothing.
  ///
  /// A key in memory stays, because it is kept by the number of the slot, which another slot may have by then.
  /// ``RetainedKeys/drop(_:)`` removes it.
  func dropPresenceKey(of slot: SlotRecord, vaultID: [UInt8]) {
    guard let terms = slot.terms, let kind = KeystoreKind(rawValue: terms.keystore), kind != .memory else { return }
    removeKey(terms.locator, kind, vaultID, of: slot.id)
  }

  /// Removes the keys of the `file` keystore that were there when the store was opened and that no slot names. A daemon
  /// that was killed while it made or replaced a slot leaves such keys. The key of an earlier slot would open an older
  /// copy of the store.
  ///
  /// This is done only after the whole store was verified to be as it was last written: a slot that somebody removed
  /// from the file must not lose its key. During a rekey nothing is removed, because the slots of the new vault have
  /// keys, too.
  func dropUnnamedKeys(_ keychain: Keychain) {
    guard keychain.isVerified, keychain.damagedSlots.isEmpty, !keychain.isRekeying else { return }
    let file = KeystoreKind.file
    let named = keychain.slots.compactMap(\.terms).filter { $0.keystore == file.rawValue }.map(\.locator)
    for locator in earlierKeys.subtracting(named) {
      keystores.remove(locator, from: file, vault: keychain.vaultID) { [log = vault.log] problem in
        if let problem { return log.warning("a key that no slot uses stays beside the store: \(problem.reason)") }
        log.info("a key that no slot uses was removed from beside the store")
      }
    }
    earlierKeys = []
  }

  private func removeKey(_ locator: [UInt8], _ kind: KeystoreKind, _ vaultID: [UInt8], of slot: UInt32) {
    keystores.remove(locator, from: kind, vault: vaultID) { [log = vault.log] problem in
      if let problem { log.warning("a key of slot \(slot) stays in its keystore: \(problem.reason)") }
    }
  }

  /// Takes up the presence keys after an unlock with a secret: keeps the keys of `memory` slots, and renews the slots
  /// of `uid` for the fingers that are enrolled now.
  func takeUpPresenceKeys(
    _ vaultKey: borrowing SecureBytes, _ keychain: Keychain, uid: UInt32, provenBy proof: SlotRecord
  ) {
    let slots = keychain.presenceSlots
    guard !slots.isEmpty else { return }
    retainKeys(of: slots, vaultKey, vaultID: keychain.vaultID)
    renewal?.callOff()
    // During a rekey the slots stay unchanged.
    guard !keychain.isRekeying else { return }
    let key = vaultKey.withBytes { SecureBytes(copying: $0) }
    let new = SlotRenewal(self, keychain, uid: uid, vaultKey: key, provenBy: proof)
    renewal = new
    new.start()
  }
}
