internal import VaultAPI
internal import VaultCore
internal import VaultStore

/// Passwords and recovery codes: a secret that a person types, tried on every slot of its kind.
extension Authentication {
  func proveSecret(_ kind: SlotKind) {
    let name = kind == .password ? "Password" : kind == .recovery ? "Recovery code" : "Login password"
    conversation.ask(.secret, method: kind.name, text: "\(name) \(purpose)") { [self] secret in
      check(secret, kind)
    }
  }

  private func check(_ secret: consuming SecureBytes, _ kind: SlotKind) {
    let kept = conversation.keepsSecret ? Handover(secret.withBytes { SecureBytes(copying: $0) }) : nil
    service.open(slots(kind), vaultID: keychain.vaultID, with: secret, by: caller(kind)) { [self] opened in
      switch opened {
      case .success(let opened):
        if let kept { conversation.isProven(by: kept) }
        succeed(opened.vaultKey, opened.slot)
      case .failure(let fault): conversation.fail(fault)
      }
    }
  }
}

/// A slot, and the vault key that it gave.
struct OpenedSlot: Sendable {
  var slot: SlotRecord
  var vaultKey: Handover
}

extension Service {
  /// Tries a typed secret on `slots`, which are of one kind. It counts as an attempt of `caller`.
  func open(
    _ slots: [SlotRecord], vaultID: [UInt8], with secret: consuming SecureBytes, by caller: Backoff.Caller,
    then: @escaping (Result<OpenedSlot, Fault>) -> Void
  ) {
    // Asked again, because attempts may have failed since the prompt.
    if let wait = wait(for: caller) { return then(.failure(wait)) }
    if slots.first?.kind == .recovery {
      // A typing error shows in the checksum: no attempt was made, so none is counted.
      do throws(CryptoError) { _ = try RecoveryCode(typed: secret) } catch {
        return then(.failure(.mistypedRecoveryCode))
      }
    }
    let seconds = charge(caller)
    checking.insert(caller)
    let secret = Handover(secret)
    workers.run(on: loop) { () -> OpenedSlot? in
      for slot in slots {
        let key = secret.withSecret { bytes in try? slot.openVaultKey(secret: bytes, vaultID: vaultID) }
        if case .some(.some(let key)) = consume key { return OpenedSlot(slot: slot, vaultKey: Handover(key)) }
      }
      return nil
    } then: { [self] opened in
      checking.remove(caller)
      guard let opened else {
        return then(
          .failure(.authenticationFailed(method: caller.method, retryAfterMilliseconds: Int(seconds) * 1000)))
      }
      forgive(caller)
      then(.success(opened))
    }
  }
}
