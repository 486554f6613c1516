internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The making of a slot. It asks for the secret of the slot in the conversation, and passes on the record.
struct NewSlot {
  /// The cost of Argon2id for a slot.
  enum Cost {
    /// The cost is measured on this machine. A slot that replaces another one gets at least the memory and the passes
    /// of that one, because a busy machine seems slow.
    case calibrated(replacing: Argon2id.Parameters? = nil)
    case fixed(Argon2id.Parameters)

    /// The lowest cost that the slot may get, if there is memory for it.
    var expected: Argon2id.Parameters {
      switch self {
      case .calibrated(let old): Argon2id.Parameters.default.raised(to: old)
      case .fixed(let parameters): parameters
      }
    }

    /// The same cost for a slot that replaces one with the cost `old`, which is nil without such a slot.
    func replacing(_ old: Argon2id.Parameters?) -> Cost {
      switch self {
      case .calibrated: .calibrated(replacing: old)
      case .fixed: self
      }
    }

    /// The parameters to try one after the other, until there is memory for them. The machine may have less memory than
    /// the one on which the replaced slot was made.
    ///
    /// - Parameter measure: measures this machine; called only if the cost depends on it.
    func choices(measure: () -> Argon2id.Parameters) -> [Argon2id.Parameters] {
      switch self {
      case .calibrated(let old):
        let measured = measure()
        let raised = measured.raised(to: old)
        return raised == measured ? [measured] : [raised, measured]
      case .fixed(let parameters): return [parameters]
      }
    }
  }

  /// The number of times that a person may type a recovery code back.
  private static let tries = 5

  let ways: WaysIn
  let conversation: Conversation
  let id: UInt32
  var label = ""
  let vaultKey: Handover
  let vaultID: [UInt8]

  /// The other slots on which a typed secret is tried.
  private var others: [SlotRecord] {
    ways.vault.openKeychain?.slots.filter { $0.id != id } ?? []
  }

  /// Makes a slot with a new password: a vault password or the user's login password.
  ///
  /// - Parameter isOneOfSeveral: true if the vault has more slots of this kind; the question then names the slot.
  func password(
    _ kind: SlotKind = .password, cost: Cost, isOneOfSeveral: Bool = false, then: @escaping (SlotRecord) -> Void
  ) {
    // With more or costlier passwords, a backup of the vault could not be restored.
    guard TrialBudget.admits(others.compactMap(\.kdf) + [cost.expected]) else {
      return conversation.fail(
        .denied("the vault's passwords together would take too long to try; remove a slot first"))
    }
    let text =
      (kind.facts.isOfSystem ? kind.facts.question : "New \(kind.facts.secretName)")
      + (isOneOfSeveral ? " of slot \(id)" : "")
    conversation.ask(.newSecret, method: kind.name, text: text) { password in
      // The minimal length of a login password is the system's to decide.
      if !kind.facts.isOfSystem, let weakness = password.withBytes({ Weakness(of: $0) }) {
        return conversation.fail(.weakSecret(weakness.text))
      }
      guard password.count > 0 else { return conversation.fail(.weakSecret("the password is empty")) }
      let password = Handover(password)
      // The worker gets a copy: the conversation's key is wiped when it ends, while the worker may still be using it.
      guard let vaultKey = vaultKey.copy() else { return conversation.fail(.cancelled) }
      let making = Making(id: id, kind: kind, label: label, now: ways.vault.clock.wall(), vaultKey, vaultID)
      let isAtWork = ways.derive(.making, for: conversation) { cancellation -> Result<SlotRecord, CryptoError>? in
        if cancellation.isCancelled { return nil }
        var made: Result<SlotRecord, CryptoError>?
        for parameters in cost.choices(measure: { Argon2id.Parameters.calibrated() }) {
          if cancellation.isCancelled { return nil }
          made = making.slot(password, kdf: parameters)
          guard case .failure(.outOfMemory)? = made else { break }
        }
        return made
      } then: { made in
        goOn(made, then)
      }
      if !isAtWork { conversation.fail(.backingOff(method: kind.name, wait: 1000)) }
    }
  }

  func recoveryCode(then: @escaping (SlotRecord) -> Void) {
    let kept = Handover(RecoveryCode.random().text())
    let making = Making(id: id, kind: .recovery, label: label, now: ways.vault.clock.wall(), vaultKey, vaultID)
    func ask(_ text: String, tries: Int = 1) {
      conversation.ask(.confirm, method: "recovery", text: text, code: kept) { typed in
        guard Self.isSame(kept, typed) else {
          guard tries < Self.tries else {
            let loss = conversation.makesVault ? "no vault was made" : "no slot was made"
            conversation.tell(.error, method: "recovery", text: "The code was wrong too many times; \(loss)")
            return conversation.fail(.cancelled)
          }
          return ask("That is a different code. Type back the one shown", tries: tries + 1)
        }
        goOn(making.slot(kept), then)
      }
    }
    conversation.willWipe(kept)
    ask("This recovery code is shown once. Write it down, then type it back")
  }

  /// Makes a slot that the presence of any of `users` opens, with its key in `keystore`.
  func presence(_ keystore: KeystoreKind, users: [UInt32], then: @escaping (SlotRecord) -> Void) {
    ways.presence.fingers(ofAll: users[...]) { fingers in
      guard !conversation.isOver else { return }
      let giveUp = ways.makePresenceSlot(
        id: id, label: label, created: ways.vault.clock.wall(), keystore, users: users, fingers: fingers,
        vaultKey: vaultKey, vaultID: vaultID
      ) { made in
        switch made {
        case .success(let slot):
          // The slot will not be stored, so its key is of no use.
          guard !conversation.isOver else { return ways.dropPresenceKey(of: slot, vaultID: vaultID) }
          then(slot)
        case .failure(let refusal): conversation.fail(refusal)
        }
      }
      conversation.willCallOff(giveUp)
    }
  }

  /// True when both are the same code, however the second was typed.
  private static func isSame(_ kept: Handover, _ typed: borrowing SecureBytes) -> Bool {
    guard let typed = try? RecoveryCode(typed: typed).text() else { return false }
    return kept.withSecret { $0.isEqual(to: typed) } ?? false
  }

  private func goOn(_ made: Result<SlotRecord, CryptoError>?, _ then: (SlotRecord) -> Void) {
    guard !conversation.isOver else { return }
    switch made {
    case .success(let slot): then(slot)
    case .failure(let error): conversation.fail(Refusal(error))
    case nil: conversation.fail(.cancelled)
    }
  }

  /// The parts of a slot's record, except the secret; it can be passed to a worker.
  private struct Making: Sendable {
    let id: UInt32
    let kind: SlotKind
    let label: String
    let now: Int64
    let vaultKey: Handover
    let vaultID: [UInt8]

    init(id: UInt32, kind: SlotKind, label: String, now: Int64, _ vaultKey: Handover, _ vaultID: [UInt8]) {
      (self.id, self.kind, self.label, self.now) = (id, kind, label, now)
      (self.vaultKey, self.vaultID) = (vaultKey, vaultID)
    }

    func slot(_ secret: Handover, kdf: Argon2id.Parameters? = nil) -> Result<SlotRecord, CryptoError>? {
      vaultKey.withSecret { key in
        secret.withSecret { secret in
          do throws(CryptoError) {
            return .success(
              try SlotRecord.make(
                id: id, kind: kind, label: label, created: now, secret: secret, kdf: kdf, vaultKey: key,
                vaultID: vaultID))
          } catch {
            return .failure(error)
          }
        }
      } ?? nil
    }
  }
}
