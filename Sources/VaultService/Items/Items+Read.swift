internal import VaultCore
package import VaultModel
internal import VaultStore

/// The result of making something with an item's value, or the reason why that was refused.
typealias Made<Value: ~Copyable> = Result<Value, Refusal>

/// The result of an attempt to read an item, if the attempt was not refused.
private enum ReadResult<Value: ~Copyable>: ~Copyable {
  case made(Value)
  case waits(Wait)
}

// The path of every call for a value, whether the value is lent or something is made with it. First the caller's permit
// is determined, or an approval in its place. The decision comes between reading the item's head and opening its value.
// Then the call waits, is refused or is answered, and its entry is written.
extension Items {
  /// Lends a value to `answer`: the item with the number of the version and the bytes, which must not leave the
  /// closure.
  ///
  /// - Returns: nil if the value was lent; otherwise what the caller may wait for.
  /// - Throws: the reason why there is no value.
  package func get(
    _ reading: Reading, _ answer: (ItemInfo, Int, RawSpan) -> Void
  ) throws(Refusal) -> Wait? {
    let (now, isRequired) = (vault.clock.wall(), vault.audit.isRequired)
    return try read(
      reading, at: now, reading.credential.map { "as credential \($0.id)" }
    ) { (keychain, decide) throws(VaultError) in
      try keychain.withValue(
        of: reading.name, version: reading.version, now: now, evenExpired: reading.evenExpired, if: decide
      ) { item, number, value in
        if !isRequired { answer(item, number, value) }
      }
      return .success(keychain)
    } _: { keychain throws(VaultError) in
      // If the entry must be on the disk before the answer, the value is read first without an answer, so that the
      // entry has the true outcome. The decision was made in this turn.
      guard isRequired else { return }
      try keychain.withValue(
        of: reading.name, version: reading.version, now: now, evenExpired: reading.evenExpired
      ) { _ in
        .allow
      } _: { item, number, value in
        answer(item, number, value)
      }
    }
  }

  /// Reads an item for a call, and lends what was made of it to `answer`.
  ///
  /// - Parameters:
  ///   - use: the use that the key must be made for; nil for a call that reads the value.
  ///   - order: the work of this call with large RSA keys, if `make` may need one.
  ///   - now: the time of the call, in Unix seconds.
  ///   - detail: the call in words for the audit log; evaluated when the entry is written.
  ///   - make: reads the item and makes the result. Before the value is opened, `decide` is called with the item.
  ///   - answer: called after the entry is written; it may fail only if it reads the item again.
  /// - Returns: nil if the result was lent; otherwise what the caller may wait for.
  /// - Throws: the reason why there is no result.
  func read<Value: ~Copyable>(
    _ reading: Reading, for use: KeyUse? = nil, _ order: RSAOrder? = nil, at now: Int64,
    _ detail: @autoclosure () -> String?,
    making make: (Keychain, _ decide: (ItemInfo) -> Decision) throws(VaultError) -> Made<Value>,
    _ answer: (borrowing Value) throws(VaultError) -> Void
  ) throws(Refusal) -> Wait? {
    let action: AuditAction = use == nil ? .get : .use
    var found = Found()
    func record(_ refusal: Refusal?) {
      vault.audit.record(
        action, refusal.outcome, reading.caller, at: now, item: reading.name.text, id: found.id,
        detail: Self.detail(detail(), by: refusal == nil ? found.approval : nil), version: reading.version,
        reading.said)
    }
    let made = try vault.audit.recording { () throws(Refusal) in
      try attempt(reading, use, order, &found, make)
    } end: { refusal in
      // A call that waits is recorded at its end.
      if !found.isWaiting { record(refusal) }
    }
    switch consume made {
    case .waits(let wait):
      if case .presence = wait { vault.audit.hasFound(found.id, detail(), of: action, reading) }
      return wait
    case .made(let value):
      if let approval = found.approval { access.requests.use(approval) }
      do throws(VaultError) { try answer(value) } catch {
        let refusal = refusal(error, reading.name, &found.id)
        record(refusal)
        try vault.audit.settle()
        throw refusal
      }
      return nil
    }
  }

  /// The facts that a call has found out about its item.
  private struct Found {
    var id: ItemID?
    /// The approval that gives the caller the right.
    var approval: QuestionNumber?
    var isWaiting = false
  }

  private static func detail(_ text: String?, by approval: QuestionNumber?) -> String? {
    guard let approval else { return text }
    return text.map { "\($0), by approval \(approval)" } ?? "by approval \(approval)"
  }

  /// - Throws: the refusal, including one that `make` returned.
  private func attempt<Value: ~Copyable>(
    _ reading: Reading, _ use: KeyUse?, _ order: RSAOrder?, _ found: inout Found,
    _ make: (Keychain, _ decide: (ItemInfo) -> Decision) throws(VaultError) -> Made<Value>
  ) throws(Refusal) -> ReadResult<Value> {
    let result = try decideAndMake(reading, use, &found, make)
    // The call is repeated when the result has come.
    if let wait = order?.wait {
      found.isWaiting = true
      return .waits(wait)
    }
    if let refusal = order?.refusal { throw refusal }
    switch consume result {
    case .made(let made): return .made(try made.get())
    case .waits(let wait):
      found.isWaiting = true
      return .waits(wait)
    }
  }

  private func decideAndMake<Value: ~Copyable>(
    _ reading: Reading, _ use: KeyUse?, _ found: inout Found,
    _ make: (Keychain, _ decide: (ItemInfo) -> Decision) throws(VaultError) -> Made<Value>
  ) throws(Refusal) -> ReadResult<Made<Value>> {
    let (name, caller) = (reading.name, reading.caller)
    let right: Right = use == nil ? .get : .use
    let keychain = try vault.keychain()
    if let version = reading.version, version < 1 { throw .invalid("version") }
    var permit = access.permit(caller, on: name)
    if !permit.mayHave(right) {
      guard let approved = access.approval(right, name, for: caller) else {
        return .waits(try waitOrAsk(right, name, permit, caller, reading.said))
      }
      (permit, found.approval) = approved
    }
    var policy: Policy?
    var unsuitable: ItemInfo?
    do throws(VaultError) {
      let made = try make(keychain) { item in
        (policy, found.id) = (item.policy, item.id)
        let decision = access.decide(right, permit, item.policy, for: caller)
        guard decision == .allow || decision == .allowWithin, !reading.suits(item, for: use) else { return decision }
        unsuitable = item
        return .refuse
      }
      return .made(made)
    } catch .locked {
      return .waits(vault.store.isAwaitingBootKey ? .bootKey : .unlock)
    } catch .notAllowed(let decision) {
      if let unsuitable { return .waits(try reading.waitFor(unsuitable: unsuitable, for: use)) }
      guard decision == .ask else { throw refused(right, permit, name, policy) }
      return .waits(.presence(name, policy?.require ?? .none))
    } catch {
      throw refusal(error, name, &found.id)
    }
  }
}
