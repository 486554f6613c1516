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
    let caller = caller(kind)
    // Asked again, because attempts may have failed since the prompt.
    if let wait = service.wait(for: caller) { return conversation.fail(wait) }
    if kind == .recovery {
      // A typing error shows in the checksum: no attempt was made, so none is counted.
      do throws(CryptoError) { _ = try RecoveryCode(typed: secret) } catch {
        return conversation.fail(.mistypedRecoveryCode)
      }
    }
    let seconds = service.charge(caller)
    service.checking.insert(caller)
    let slots = slots(kind)
    let vaultID = keychain.vaultID
    let secret = Handover(secret)
    service.workers.run(on: service.loop) { () -> Opened? in
      for slot in slots {
        let key = secret.withSecret { bytes in try? slot.openVaultKey(secret: bytes, vaultID: vaultID) }
        if case .some(.some(let key)) = consume key { return Opened(slot: slot, vaultKey: Handover(key)) }
      }
      return nil
    } then: { [self] opened in
      service.checking.remove(caller)
      guard let opened else {
        return conversation.fail(
          .authenticationFailed(method: caller.method, retryAfterMilliseconds: Int(seconds) * 1000))
      }
      service.forgive(caller)
      conversation.isProven(by: secret)
      succeed(opened.vaultKey, opened.slot)
    }
  }

  private struct Opened: Sendable {
    var slot: SlotRecord
    var vaultKey: Handover
  }
}
