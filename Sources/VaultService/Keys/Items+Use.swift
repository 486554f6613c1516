internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The result of an attempt to make something with a key.
enum Made<Value: ~Copyable>: ~Copyable {
  case made(Value)
  case refused(Refusal)
}

// The use of a key without reading it: the common part of all methods that do so.
extension Items {
  /// Makes something with the key that is an item's value, and lends the result to `answer`. A caller who may have the
  /// result need not have the right to get the key.
  ///
  /// - Parameters:
  ///   - use: the use that the key must be made for.
  ///   - detail: the result in words for the audit log; evaluated when the entry is written.
  ///   - order: the work of this call with large RSA keys, if `make` may need one.
  ///   - make: reads the item and makes the result. Before the value is opened, `decide` is called with the item.
  /// - Returns: nil if the result was lent; otherwise what the caller may wait for.
  /// - Throws: the reason why there is no result.
  func use<Value: ~Copyable>(
    _ name: ItemName, for use: KeyUse, _ detail: @autoclosure () -> String, for caller: Caller, _ said: Said,
    _ order: RSAOrder? = nil,
    making make: (Keychain, _ decide: (ItemInfo) -> Decision) throws(VaultError) -> Made<Value>,
    _ answer: (borrowing Value) -> Void
  ) throws(Refusal) -> Wait? {
    // Deeper calls occur only in libgcrypt, which wipes its own stack.
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
        case .waits(let wait):
          if case .presence = wait {
            vault.audit.record(.use, .presence, caller, item: name.text, id: id, detail: detail(), said)
            try vault.audit.settle()
          }
          return wait
        case .refused(let refusal): throw refusal
        }
      }
      // The call is repeated when the result has come, and is recorded then.
      if let wait = order?.wait { return wait }
      switch consume made {
      case .refused(let refusal): throw refusal
      case .made(let value):
        // If the entry must be on the disk before the answer, it is written between the making and the answer.
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
      throw decision == .ask ? .waits(.presence(name, requirement)) : .refused(denied)
    } catch {
      throw .refused(refusal(error, name, &id))
    }
  }
}
