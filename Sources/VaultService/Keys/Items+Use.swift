internal import VaultCore
internal import VaultModel
internal import VaultStore

/// What came of an attempt to make something of a key.
enum Made<Value: ~Copyable>: ~Copyable {
  case made(Value)
  case refused(Refusal)
}

// A key that is used without being read: the common part of all methods that do so.
extension Items {
  /// Has something made of the key that is an item's value, and lends it to `answer`. Who may have that need not be allowed to
  /// get the key.
  ///
  /// - Parameters:
  ///   - use: the use that the key has to be made for.
  ///   - detail: what is made, or was, for the audit log; asked for when its entry is written.
  ///   - order: the call's part that a large RSA key has, where `make` may need one.
  ///   - make: reads the item, which `decide` is asked about before the value is opened, and makes something of it.
  /// - Returns: nil when it was lent; while the vault is locked, what the caller may wait for.
  /// - Throws: why there is none.
  func use<Value: ~Copyable>(
    _ name: ItemName, for use: KeyUse, _ detail: @autoclosure () -> String, for caller: Caller, _ said: Said,
    _ order: RSAOrder? = nil,
    making make: (Keychain, _ decide: (ItemInfo) -> Decision) throws(VaultError) -> Made<Value>,
    _ answer: (borrowing Value) -> Void
  ) throws(Refusal) -> Wait? {
    // Deeper calls, of libgcrypt alone, wipe for themselves.
    defer { Stack.wipe(Stack.exchange) }
    order?.begin()
    defer { order?.end() }
    var id: ItemID?
    do throws(Refusal) {
      try vault.audit.settle()
      let keychain = try vault.keychain()
      var permit = access.permit(caller, on: name)
      var approval: Int?
      if !permit.mayHave(.use) {
        guard let approved = access.approval(.use, name, for: caller) else {
          return try waitOrAsk(.use, name, permit, caller, said)
        }
        (permit, approval) = approved
      }
      let made: Made<Value>
      do throws(Unmade) { made = try read(name, use, permit, keychain, caller, &id, make) } catch {
        switch error {
        case .waits(let wait): return wait
        case .refused(let refusal): throw refusal
        }
      }
      // The call is made again when it comes, and is recorded then.
      if let wait = order?.wait { return wait }
      switch consume made {
      case .refused(let refusal): throw refusal
      case .made(let value):
        // Where its entry has to be on the disk before, that is written between the making and the answer.
        let text = detail()
        vault.audit.record(
          .use, .ok, caller, item: name.text, id: id, detail: approval.map { "\(text), by approval \($0)" } ?? text,
          said)
        try vault.audit.settle()
        if let approval { access.requests.use(approval) }
        answer(value)
        return nil
      }
    } catch {
      vault.audit.record(.use, error.outcome, caller, item: name.text, id: id, detail: detail(), said)
      try vault.audit.settle()
      throw error
    }
  }

  private enum Unmade: Error {
    case waits(Wait)
    case refused(Refusal)
  }

  private func read<Value: ~Copyable>(
    _ name: ItemName, _ use: KeyUse, _ permit: Permit, _ keychain: Keychain, _ caller: Caller, _ id: inout ItemID?,
    _ make: (Keychain, _ decide: (ItemInfo) -> Decision) throws(VaultError) -> Made<Value>
  ) throws(Unmade) -> Made<Value> {
    var requirement = Requirement.none
    var other: ItemInfo?
    do throws(VaultError) {
      return try make(keychain) { item in
        (requirement, id) = (item.policy.require, item.id)
        let decision = access.decide(.use, permit, item.policy, for: caller)
        guard decision == .allowWithin, item.use != use else { return decision }
        other = item
        return .refuse
      }
    } catch .locked {
      throw .waits(vault.store.isAwaitingBootKey ? .bootKey : .unlock)
    } catch .notAllowed(let decision) {
      if let other {
        throw .refused(
          use == .totp ? .wrongKind(name.text, kind: other.kind) : .wrongUse(name.text, use: other.use))
      }
      throw .refused(decision == .ask ? .presenceRequired(name.text, requirement) : denied)
    } catch {
      throw .refused(refusal(error, name, &id))
    }
  }
}
