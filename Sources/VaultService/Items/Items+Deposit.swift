package import VaultCore
package import VaultModel
internal import VaultStore

/// The result of a deposit, as far as the caller who left it may know.
package struct DepositAnswer: Hashable, Sendable {
  /// The number of the deposit while it waits or is kept aside, for administrators.
  package var number: Int?
  /// True when the deposit waits for the next unlock, or for the end of one.
  package var isWaiting = false
  /// The version that the deposit made.
  package var version: Int?
  /// The reason why the deposit was kept aside.
  package var obstacle: DepositObstacle?
  /// The name of the item that a box was for.
  package var name: ItemName?
}

// Depositing values for items, also while the items are locked.
extension Items {
  /// Leaves a value for an item.
  ///
  /// - Parameters:
  ///   - accessible: the class of a new item; nil for the class of the existing item, or the default.
  ///   - count: the size of the value in bytes; nil if the call gave something that is no value.
  ///   - fill: writes the bytes of the value; returns false if the bytes are malformed.
  package func deposit(
    _ name: ItemName, kind: ItemKind?, attributes: [String: String]?, accessible: AccessClass?, count: Int?,
    for caller: Caller, _ said: Said, fill: (inout MutableRawSpan) -> Bool
  ) throws(Refusal) -> DepositAnswer {
    try recordingDeposit(for: name.text, nil, caller, said) { entry, note throws(Refusal) in
      let keychain = try vault.keychain()
      let permit = try permit(.deposit, on: name, for: caller)
      try checkRekey(keychain)
      // The item is not looked up for a caller that may not know of it. Such a caller cannot set an existing item in
      // any case.
      let (there, base) = mayKnow(permit, nil) ? try known(name, keychain) : (nil, nil)
      let maySee = mayKnow(permit, there?.policy.accessible)
      if maySee { entry.item = there?.id }
      let accessible = accessible ?? (maySee ? there?.policy.accessible : nil) ?? .whenUnlocked
      try check(.deposit, permit, name, Policy(accessible: accessible), for: caller)
      let item = DepositedItem(name: name, accessible: accessible, kind: kind, attributes: attributes)
      let stamp = DepositStamp(vault: keychain.identity, time: vault.newestTime(of: .whenUnlocked))
      try encode(item, base, stamp, count, tokenList(name, for: caller), caller, fill)
      defer { valueInHand.empty() }
      let isKnowing = mayKnow(permit, accessible)
      return try leave(
        stamp, accessible, keychain, caller, isKnowing: isKnowing, { mayKnow(permit, $0.accessible) }, entry, note)
    }
  }

  /// Leaves a deposit that was sealed elsewhere.
  ///
  /// - Parameter text: the box that ``seal(for:_:count:fill:)`` made there.
  package func deposit(box text: String, for caller: Caller, _ said: Said) throws(Refusal) -> DepositAnswer {
    try recordingDeposit(for: nil, "a sealed box", caller, said) { entry, note throws(Refusal) in
      let keychain = try vault.keychain()
      try access.checkDepositor(caller)
      try checkRekey(keychain)
      let box: [UInt8]
      do throws(CryptoError) {
        box = try DepositBox.box(of: text)
        let vault = try DepositBox.vault(of: box)
        guard vault == keychain.identity else { throw .malformed("it was sealed for another vault") }
      } catch { throw .invalidValue(kind: "", reason: error.reason) }
      let stamp = DepositStamp(vault: keychain.identity, time: vault.newestTime(of: .whenUnlocked))
      DepositRecord.encode(stamp, access.depositor(caller), box: box, into: valueInHand)
      defer { valueInHand.empty() }
      // Nobody knows the item that the box is for before the box is opened.
      let accessible: AccessClass = keychain.takesDeposits(for: .whenUnlocked) ? .whenUnlocked : .always
      let isKnowing = access.isAdministrator(caller)
      return try leave(
        stamp, accessible, keychain, caller, isKnowing: isKnowing,
        { mayKnow(access.permit(caller, on: $0.name), $0.accessible) }, entry, note)
    }
  }

  /// Seals a value to the public key of another vault.
  ///
  /// - Parameter key: the key that ``publicKey(for:)`` returned there.
  package func seal(
    for key: String, _ item: DepositedItem, count: Int?, fill: (inout MutableRawSpan) -> Bool
  ) throws(Refusal) -> (box: String, fingerprint: String) {
    let known: DepositKey
    do throws(CryptoError) { known = try DepositKey(parsing: key) } catch {
      throw .invalidValue(kind: "", reason: error.reason)
    }
    let count = try checked(count, item)
    let sealed: [UInt8]?
    var fault: String?
    do throws(CryptoError) {
      sealed = try DepositBox.seal(item, valueCount: count, to: known, time: vault.clock.wall(), valueInHand) { bytes in
        fault = Self.put(&bytes, item, fill)
        return fault == nil
      }
    } catch { throw .invalidValue(kind: "", reason: error.reason) }
    guard let sealed else { throw .invalidValue(kind: item.kind?.rawValue ?? "", reason: fault ?? "") }
    return (DepositBox.text(of: sealed), known.fingerprint)
  }

  /// The public key of the vault, to which values are sealed.
  package func publicKey(for caller: Caller) throws(Refusal) -> DepositKey {
    try vault.audit.recording(.find, caller, nil, detail: "public key of the vault") { () throws(Refusal) in
      let keychain = try vault.keychain()
      guard access.hasAny(caller) else { throw denied }
      guard let publicKey = keychain.publicKey else { throw vault.locked }
      return DepositKey(vault: keychain.identity, publicKey: publicKey)
    }
  }

  // MARK: Parts

  /// The result of a deposit: the caller's answer, and the deposit if it was taken in at once.
  private struct Left {
    let answer: DepositAnswer
    var taken: TakenDeposit?
    /// True if the caller may know the result, whatever it is.
    var isKnowing = false
  }

  /// Records a deposit and its result.
  ///
  /// For a caller that may know the result, the result is in the caller's own entry. For any other caller there are
  /// always two entries, so that their numbers tell nothing: the caller's entry says that a deposit was left, and an
  /// entry of the daemon says what the result was.
  ///
  /// - Parameter body: leaves the deposit. It gets the entry of the call, in which it notes the existing item if the
  ///   caller may know of that item, and a closure that notes the result for the entries.
  private func recordingDeposit(
    for name: String?, _ detail: String?, _ caller: Caller, _ said: Said,
    _ body: (Audit.Entry, (Left) -> Void) throws(Refusal) -> Left
  ) throws(Refusal) -> DepositAnswer {
    var left: Left?
    return try vault.audit.recording(by: caller) { entry throws(Refusal) in
      try body(entry) { left = $0 }.answer
    } entries: { [unowned self] outcome, entry in
      guard outcome == .ok, let left else {
        return vault.audit.record(.deposit, outcome, caller, item: name, id: entry.item, detail: detail, said)
      }
      guard let taken = left.taken, left.isKnowing else {
        let words = left.taken == nil ? "waits for an unlock" : "left"
        vault.audit.record(
          .deposit, .ok, caller, item: name, id: entry.item,
          detail: [detail, words].compactMap { $0 }.joined(separator: ", "), said)
        if let taken = left.taken { record(taken) }
        return
      }
      vault.audit.record(
        .deposit, taken.outcome, caller, item: taken.name?.text ?? name, id: taken.item,
        detail: [detail, taken.words].compactMap { $0 }.joined(separator: ", "), said)
    }
  }

  /// Leaves the deposit in ``valueInHand``. The unlocked vault takes it in at once. While an unlock still reads the
  /// other deposits, the new deposit waits with them, and the unlock takes it in.
  ///
  /// - Parameter note: notes the result for the entries of the call.
  private func leave(
    _ stamp: DepositStamp, _ accessible: AccessClass, _ keychain: Keychain, _ caller: Caller, isKnowing: Bool,
    _ mayKnow: (DepositedItem) -> Bool, _ entry: Audit.Entry, _ note: (Left) -> Void
  ) throws(Refusal) -> Left {
    let author = author(caller)
    do throws(VaultError) {
      guard vault.state.kind == .unlocked, !keychain.isReadingDeposits else {
        return try vault.audit.taking(
          effect: { () throws(VaultError) in
            let number = try keychain.leaveDeposit(valueInHand, stamp, for: accessible, by: author)
            // The number is for administrators only, because it counts the deposits of others.
            let told = access.isAdministrator(caller) ? Int(number) : nil
            let left = Left(answer: DepositAnswer(number: told, isWaiting: true))
            note(left)
            return left
          }, with: entry)
      }
      if !isKnowing { try countUnknown(author, valueInHand.withBytes { $0.byteCount }) }
      let now = vault.clock.wall()
      let left = try vault.audit.taking(
        effect: { () throws(VaultError) in
          let taken = try keychain.takeInDeposit(valueInHand, stamp, for: accessible, by: author, now: now) {
            [access] in
            access.decide(deposit: $1, by: $0, $2)
          } judging: { [unowned self] in
            judge($0, $1, $2)
          }
          let left = Left(answer: answer(taken, caller, mayKnow), taken: taken, isKnowing: isKnowing)
          note(left)
          entry.others = [auditSubject(taken)]
          return left
        }, with: entry)
      if let taken = left.taken { announce(taken) }
      return left
    } catch .locked { throw vault.locked } catch .invalidValue(let reason) { throw .busy(reason) } catch {
      throw Refusal(error)
    }
  }

  /// Counts a deposit that the unlocked vault takes in right away toward a limit, as if the deposit were kept aside.
  /// Every such deposit counts, so the limit does not tell which of them were kept aside.
  private func countUnknown(_ author: String, _ plaintext: Int) throws(VaultError) {
    let day: Int64 = 86_400 * 1_000_000_000
    let now = vault.clock.boot()
    if now - depositsSince >= day { (depositsAtOnce, depositsSince) = ([:], now) }
    var sum = depositsAtOnce[author] ?? (0, 0)
    sum.count += 1
    sum.bytes += Keychain.depositSize(plaintext)
    guard sum.count <= Keychain.mostDepositsOfOne, sum.bytes <= Keychain.mostDepositBytesOfOne else {
      throw .invalidValue("you have reached the limit of waiting deposits")
    }
    depositsAtOnce[author] = sum
  }

  private func answer(
    _ taken: TakenDeposit, _ caller: Caller, _ mayKnow: (DepositedItem) -> Bool
  ) -> DepositAnswer {
    // A deposit that cannot be read tells nothing.
    if let name = taken.name, let accessible = taken.accessible,
      !mayKnow(DepositedItem(name: name, accessible: accessible))
    {
      return DepositAnswer()
    }
    let name = taken.name
    switch taken.result {
    case .stored(let version): return DepositAnswer(version: version, name: name)
    case .kept(let number, let obstacle):
      let number = access.isAdministrator(caller) ? Int(number) : nil
      return DepositAnswer(number: number, obstacle: obstacle, name: name)
    }
  }

  /// True when a caller may know whether an item of that class exists.
  private func mayKnow(_ permit: Permit, _ accessible: AccessClass?) -> Bool {
    permit.has(.find, accessible) || permit.has(.set, accessible)
  }

  private func checkRekey(_ keychain: Keychain) throws(Refusal) {
    if vault.state.kind != .unlocked, keychain.isRekeying { throw .rekeyRests }
  }

  /// The item of that name, and what the deposit records about it; nil if that cannot be determined now.
  private func known(
    _ name: ItemName, _ keychain: Keychain
  ) throws(Refusal) -> (ItemInfo?, base: DepositRecord.Base?) {
    do throws(VaultError) {
      let (item, base) = try keychain.depositBase(of: name)
      return (item, base)
    } catch .locked { return (nil, nil) } catch {
      throw vault.refusal(error, name.text)
    }
  }

  private func encode(
    _ item: DepositedItem, _ base: DepositRecord.Base?, _ stamp: DepositStamp, _ count: Int?, _ list: TokenListCheck?,
    _ caller: Caller, _ fill: (inout MutableRawSpan) -> Bool
  ) throws(Refusal) {
    let count = try checked(count, item)
    let fault = DepositRecord.encode(
      stamp, access.depositor(caller), item, base: base, valueCount: count, into: valueInHand
    ) { bytes in Self.put(&bytes, item, fill) ?? list?.fault(of: bytes.bytes) }
    guard let fault else { return }
    valueInHand.empty()
    throw .invalidValue(kind: item.kind?.rawValue ?? "", reason: fault)
  }

  /// Checks the size of a value for a deposit, and that the attributes can be stored.
  ///
  /// - Returns: the size in bytes.
  private func checked(_ count: Int?, _ item: DepositedItem) throws(Refusal) -> Int {
    guard let count else { throw .invalidValue(kind: "", reason: NewValue.unreadable) }
    guard count <= Keychain.maximumValue else { throw .tooLarge(limit: Keychain.maximumValue) }
    do throws(ValueError) { try Attributes.validate(item.attributes ?? [:]) } catch {
      throw .invalidValue(kind: item.kind?.rawValue ?? "", reason: error.reason)
    }
    return count
  }

  /// Writes the bytes of a value, and checks that it is of the item's kind, if a kind is given.
  ///
  /// - Returns: nil, or the reason why the value is wrong.
  private static func put(
    _ bytes: inout MutableRawSpan, _ item: DepositedItem, _ fill: (inout MutableRawSpan) -> Bool
  ) -> String? {
    guard fill(&bytes) else { return NewValue.unreadable }
    guard let kind = item.kind else { return nil }
    do throws(ValueError) {
      _ = try kind.validate(bytes.bytes, attributes: item.attributes ?? [:])
      return nil
    } catch { return error.reason }
  }
}
