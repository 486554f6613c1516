package import VaultModel
internal import VaultStore

/// The items that are SSH keys, as an ssh-agent lists them. The list is read from the store once, in turns of the loop,
/// and kept until the state of the vault changes.
package final class SSHKeys: SecretHolder {
  /// An SSH key that is an item's value.
  package struct Key: Sendable {
    package let name: ItemName
    /// The public half in SSH's form (RFC 4253 section 6.6).
    package let blob: [UInt8]
    /// The number of the item's row in the store. A rekey may give it another one.
    let row: Int64
    let accessible: AccessClass
    /// The first second in which the key is no longer used, in Unix seconds; nil if it does not expire.
    let expires: Int64?
  }

  private let items: Items
  private var list = SSHKeyList()
  /// The number of changes so far, also of those that a reading itself has caused.
  private var changes = 0
  /// True if the last reading has failed, until somebody is told the reason.
  private var hasFailed = false
  /// The calls that wait for the list.
  private var waiting: [() -> Void] = []
  /// The answer with all keys that have not expired, as a door has made it, and their number; nil if none is kept. As
  /// time goes on, keys only expire, so the number stands for the keys.
  private var answer: (count: Int, made: Answer)?

  package init(_ items: Items) {
    self.items = items
    super.init(in: items.vault.holders)
    let haveChanged = items.vault.hooks.haveChangedKeys
    items.vault.hooks.haveChangedKeys = { [weak self] in
      haveChanged()
      self?.forget()
    }
  }

  /// Handles an event of the vault.
  package func happened(_ event: VaultEvent) {
    switch event {
    case .item(let name, _, let new, _, _):
      changes += 1
      answer = nil
      list.change(name)
      if let new { list.change(new) }
    case .state: forget()
    case .integrityFailed, .request: break
    }
  }

  // MARK: Reading

  /// True if the keys can be listed without reading any.
  package var isCurrent: Bool { list.isCurrent }

  /// Returns true if a call that lists keys can be made now. Otherwise the keys are read in turns of `line`, and `then`
  /// runs when the reading has ended. The call then asks again, because items may have changed.
  package func canList(_ line: Line, otherwise then: @escaping () -> Void) -> Bool {
    guard let turns = items.vault.waiting.turns else { return true }
    if waiting.isEmpty {
      if goOn() { return true }
      readLater(line, in: turns)
    }
    waiting.append(then)
    return false
  }

  private func readLater(_ line: Line, in turns: Turns) {
    turns.wait(line) { [weak self, weak turns] in
      guard let self, let turns else { return }
      guard goOn() else { return readLater(line, in: turns) }
      let waiting = self.waiting
      self.waiting = []
      for then in waiting { then() }
    }
  }

  /// Reads for a part of a turn; true once the list is current, or if ``keys(for:)`` will refuse the call.
  private func goOn() -> Bool {
    if list.isCurrent || hasFailed { return true }
    guard let keychain = items.vault.openKeychain else { return true }
    do throws(Refusal) {
      _ = try read(keychain, until: items.vault.clock.monotonic() + Turns.search)
      return list.isCurrent
    } catch {
      hasFailed = true
      return true
    }
  }

  /// Reads on until the list is current or the time is up, and returns the keys that have been read.
  private func read(_ keychain: Keychain, until end: Int64) throws(Refusal) -> [Key] {
    if list.isCurrent { return list.keys }
    // A reading may itself cause an event that announces a change. The list is then read anew.
    var reading = SSHKeyList()
    swap(&reading, &list)
    let before = changes
    do throws(VaultError) { try reading.read(items, keychain, until: end) } catch {
      throw items.vault.refusal(error, "")
    }
    let keys = reading.keys
    if changes == before { swap(&reading, &list) }
    return keys
  }

  // MARK: Listing

  /// The keys that a caller may use.
  package struct Listing {
    package let keys: [Key]
    /// False if there may be other keys, whose names cannot be read now.
    package let isWhole: Bool
    fileprivate let isAll: Bool
  }

  /// The keys that a caller may use, in the order in which they were first stored. A key that has expired is left out:
  /// a server would accept it, and the login would then fail. Keys that are not read yet are read now, all at once: see
  /// ``canList(_:otherwise:)``.
  package func keys(for caller: Caller) throws(Refusal) -> Listing {
    let keychain = try items.vault.keychain()
    hasFailed = false
    let all = try read(keychain, until: .max)
    let access = items.access
    let isWhole = keychain.knowsAllNames
    let now = items.vault.clock.wall()
    let good = all.filter { key in
      key.expires.map { keychain.newestTime(of: key.accessible, at: now) < $0 } ?? true
    }
    if access.isAdministrator(caller) { return Listing(keys: good, isWhole: isWhole, isAll: true) }
    let keys = good.filter { access.permit(caller, on: $0.name)[$0.accessible].contains(.use) }
    return Listing(keys: keys, isWhole: isWhole, isAll: false)
  }

  /// A door's answer with keys.
  package struct Answer {
    package let bytes: [UInt8]
    /// The number of keys in the answer, which may leave some out, because an answer has a limit.
    package let count: Int

    package init(_ bytes: [UInt8], count: Int) { (self.bytes, self.count) = (bytes, count) }
  }

  /// The answer that `make` makes of these keys. An answer with all keys is made once, and kept until they change, so
  /// `make` must depend on nothing else.
  package func answer(_ listing: Listing, _ make: ([Key]) -> Answer) -> Answer {
    if listing.isAll, let answer, answer.count == listing.keys.count { return answer.made }
    let made = make(listing.keys)
    if listing.isAll { answer = (listing.keys.count, made) }
    return made
  }

  private func forget() {
    changes += 1
    (list, answer, hasFailed) = (SSHKeyList(), nil, false)
  }

  // MARK: Locks

  override package func letGo(for lock: Lock) { forget() }

  override package func outlives(_ lock: Lock) -> Bool { !list.isEmpty || answer != nil }
}
