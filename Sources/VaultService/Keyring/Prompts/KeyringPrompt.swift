internal import VaultCore
package import VaultModel
internal import VaultStore

/// A collection or an item that a program wants unlocked.
package enum KeyringTarget: Hashable, Sendable {
  case collection(CollectionID)
  case item(KeyringPath)
}

/// A prompt: a program's wish for something that it lacks. It stays open until the program lacks nothing any more, by
/// whatever means, or until a person refuses it, the program drops it, or its time is over. Programs destroy data after
/// any other end, so neither an unanswered question nor a question that a person puts off ends it. A question that
/// cannot be asked now, because there is no room for it, say, is asked later.
package final class KeyringPrompt {
  /// The purpose of a prompt.
  package enum Task: Equatable {
    case unlock([KeyringTarget])
    case makeCollection(label: String, isStandard: Bool)
    case delete(KeyringPath)
    case remove(CollectionID)
    case fulfill(AppWish)
  }

  /// The kinds of tasks, without anything that tells a name.
  package enum Kind: String, Sendable {
    case unlock, create, delete, retrieve
  }

  /// The task as it is kept: while names are hidden, nothing in memory tells the label of a new collection.
  private enum KeptTask {
    case unlock([KeyringTarget])
    case makeCollection(SealedTexts, isStandard: Bool)
    case delete(KeyringPath)
    case remove(CollectionID)
    case fulfill(AppWish)
  }

  /// The end of a prompt.
  package enum End: Equatable {
    /// The targets that are served now.
    case unlocked([KeyringTarget])
    case made(CollectionID)
    case deleted
    case fulfilled
    case dismissed
  }

  /// The pause before a question that cannot be asked now is tried again, at first and at most, in nanoseconds.
  private static let (shortestPause, longestPause): (Int64, Int64) = (15_000_000_000, 900_000_000_000)

  /// The number by which a person refuses the prompt.
  package let number: QuestionNumber
  /// The time at which the prompt was made, in Unix seconds.
  package let since: Int64
  /// The holder in whose share of all prompts this prompt counts; nil for a prompt of the portal, whose calls have a
  /// limit of their own.
  let holder: Access.Holder?
  private let task: KeptTask
  private let keyring: Keyring
  private let asking: Asking
  private let terms: AskedCall.Terms
  private let line: Line
  private let limit: Int64?
  private var completed: ((End) -> Void)?
  /// The call that waits; nil while the prompt rests because nobody can be asked.
  private var call: AskedCall?
  package private(set) var isBegun = false
  /// True once the program's searches were made, as far as that was possible, since the last unlock or pause.
  private var hasMatched = false
  /// The searches that the prompt is for. They do not give way to others.
  private var searches: [Placeholders.Search] = []
  /// True while a collection is being removed, which takes several turns.
  private var isRemoving = false
  /// True once the removal has come to an item that only an unlock lets it delete.
  private var isRemovalStopped = false
  /// True while a turn is awaited in which the prompt looks, or asks again.
  private var isDue = (look: false, ask: false)
  private var pause = KeyringPrompt.shortestPause
  /// Cancels the timers of the pause, and of the prompt's own limit.
  private var rest: Timer.Cancel?
  private var timeout: Timer.Cancel?
  private var knownAsker: Asker?

  /// - Parameters:
  ///   - terms: the program's call, with ``Patience/untilServed``.
  ///   - line: the line of the program's calls.
  ///   - limit: the nanoseconds after which the prompt ends in any case, from its beginning; nil for none.
  ///   - completed: called once, with the end of the prompt.
  /// - Throws: the fault if a label cannot be sealed.
  package init(
    _ task: Task, _ keyring: Keyring, _ asking: Asking, _ terms: AskedCall.Terms, _ line: Line, within limit: Int64?,
    completed: @escaping (End) -> Void
  ) throws(KeyringFault) {
    self.task =
      switch task {
      case .unlock(let targets): .unlock(targets)
      case .makeCollection(let label, let isStandard):
        .makeCollection(try SealedTexts([label], in: asking.vault), isStandard: isStandard)
      case .delete(let path): .delete(path)
      case .remove(let collection): .remove(collection)
      case .fulfill(let wish): .fulfill(wish)
      }
    (self.keyring, self.asking, self.terms, self.line, self.limit) = (keyring, asking, terms, line, limit)
    holder = if case .fulfill = task { nil } else { asking.access.holder(of: terms.caller) }
    number = asking.vault.questions.freeNumber()
    since = asking.vault.clock.wall()
    self.completed = completed
    searches = keyring.searches(at: targets, of: caller)
    for search in searches { search.prompts += 1 }
    asking.vault.prompts.add(self)
  }

  /// True while the prompt has not ended.
  package var isOpen: Bool { completed != nil }
  package var caller: Caller { terms.caller }

  package var kind: Kind {
    switch task {
    case .unlock: .unlock
    case .makeCollection: .create
    case .delete, .remove: .delete
    case .fulfill: .retrieve
    }
  }

  /// The program that wants its secret from the portal, as the portal names it; nil for other prompts, and while the
  /// name cannot be read.
  package var app: String? {
    guard case .fulfill(let wish) = task else { return nil }
    return keyring.app(of: wish)
  }

  /// The texts of the prompt that are sealed for as long as it is open.
  var sealed: SealedTexts? {
    switch task {
    case .makeCollection(let label, _): label
    case .fulfill(let wish): wish.app
    case .unlock, .delete, .remove: nil
    }
  }

  /// The event for which the prompt waits, in a word; `later` if it is to be asked for later.
  package var awaited: String {
    switch call?.wait {
    case .unlock, .bootKey: "unlock"
    case .approval: "approval"
    case .presence: "presence"
    case .room, .confirmation, .signature, nil: "later"
    }
  }

  /// The program, as described to people. Describing a process takes a while, so it is described once.
  package var asker: Asker {
    let asker = knownAsker ?? Asker(caller, isSystem: asking.access.terms.isSystem)
    knownAsker = asker
    return asker
  }

  /// Begins to ask a person for what the program lacks. If it lacks nothing any more, the prompt ends at once.
  package func begin() {
    guard isOpen, !isBegun else { return }
    isBegun = true
    if let limit { timeout = asking.timer.after(limit) { [weak self] in self?.dismiss() } }
    ask()
  }

  /// Ends the prompt without a result: the program drops it, or a person refuses it.
  package func dismiss() {
    call?.callOff()
    end(.dismissed)
  }

  private func end(_ end: End) {
    call = nil
    stopRest()
    timeout?()
    timeout = nil
    guard let completed = completed.take() else { return }
    for search in searches { search.prompts -= 1 }
    searches = []
    asking.vault.prompts.remove(self)
    completed(end)
  }

  // MARK: Asking

  /// Asks for what the program lacks first.
  private func ask() {
    guard isOpen, isBegun, !isRemoving, terms.isStillAsking() else { return }
    stopRest()
    call?.callOff()
    call = AskedCall.begin(terms, in: asking, line) { [weak self] () throws(Refusal) in
      try self?.goOn()
    } refuse: { [weak self] _ in
      self?.refused()
    }
  }

  /// Notes that nobody can be asked now: too many questions are open, for example, or an administrator has denied what
  /// the program wants, or an item cannot be read. The prompt tries again after a while, if nothing comes before.
  private func refused() {
    call = nil
    guard isOpen else { return }
    stopRest()
    rest = asking.timer.after(pause) { [weak self] in
      guard let self else { return }
      rest = nil
      hasMatched = false
      pause = min(2 * pause, Self.longestPause)
      askLater()
    }
  }

  private func stopRest() {
    rest?()
    rest = nil
  }

  /// Asks in the program's next turn, once something can be decided about it.
  private func askLater() {
    guard isOpen, isBegun, !isDue.ask else { return }
    isDue.ask = true
    whenDecidable { [weak self] in
      self?.isDue.ask = false
      self?.ask()
    }
  }

  private func whenDecidable(_ then: @escaping () -> Void) {
    asking.vault.waiting.turns?.wait(line) { [weak self] in
      guard let self else { return }
      if asking.access.canDecide(about: caller, otherwise: { [weak self] in self?.whenDecidable(then) }) { then() }
    }
  }

  /// Checks whether the program lacks nothing any more. A prompt that waits for an unlock is told of it in any case.
  func look() {
    guard isOpen, isBegun, !isDue.look, call?.wait != .unlock else { return }
    isDue.look = true
    whenDecidable { [weak self] in
      guard let self else { return }
      isDue.look = false
      guard isOpen, call?.wait != .unlock, !isLacking else { return }
      ask()
    }
  }

  /// Asks again for what could not be asked, or was put off.
  func wake() {
    pause = Self.shortestPause
    hasMatched = false
    switch call?.wait {
    case .unlock, .approval, .presence: look()
    case .bootKey, .room, .confirmation, .signature, nil: askLater()
    }
  }

  // MARK: Names

  /// True if the event for which the prompt waits tells the name of an item.
  var tellsName: Bool { call?.wait?.tellsName == true }

  /// Drops the event for which the prompt waits, and waits for an unlock instead.
  func forgetNames() {
    call?.callOff()
    call = nil
    askLater()
  }

  // MARK: The task

  /// Does what the prompt is for, as soon as the program lacks nothing for it; otherwise returns the event to wait for.
  private func goOn() throws(Refusal) -> Wait? {
    // No person can give what the log lacks.
    guard !keyring.isUnrecorded else {
      refused()
      return nil
    }
    if isRemovalStopped, !keyring.isUnlocked { return .unlock }
    if beginMatching() { return nil }
    if let wait = try lack() { return wait }
    // An unlock gives nothing more to an unlocked vault.
    guard !targets.contains(where: isUnmatched) else {
      refused()
      return nil
    }
    do throws(KeyringFault) {
      guard let result = try result() else { return nil }
      end(result)
    } catch {
      if mayPass(error) {
        refused()
      } else if error == .isLocked, !keyring.isUnlocked {
        return .unlock
      } else {
        end(.dismissed)
      }
    }
    return nil
  }

  /// True for a fault that no lock explains, and after which the prompt rests: while the vault itself cannot do
  /// anything, as on a full disk, or while nobody can tell whether there is an item. False for damage, which lasts, and
  /// for a refusal that another unlock would not change.
  private func mayPass(_ fault: KeyringFault) -> Bool {
    if keyring.isUnrecorded { return true }
    return switch fault {
    case .isLocked: kind == .retrieve && keyring.isUnlocked && keyring.isUnchecked
    case .refused(.corrupt): false
    case .refused(let refusal): refusal.outcome == .failed
    case .noSuchObject, .readOnly, .limitsExceeded: false
    }
  }

  /// Begins to look for what the program's searches find, once that is possible; false if there is nothing to look for.
  private func beginMatching() -> Bool {
    guard !hasMatched else { return false }
    let paths = targets.filter(isUnmatched)
    guard !paths.isEmpty else { return false }
    hasMatched = true
    keyring.match(paths, of: caller, in: line, then: { [weak self] in self?.askLater() })
    return true
  }

  /// True if a path stands for the match of a search that can be made now, but was not made yet.
  private func isUnmatched(_ path: KeyringPath) -> Bool { keyring.isUnlocked && keyring.isUnmatched(path, of: caller) }

  /// The items that the prompt is about.
  private var targets: [KeyringPath] {
    switch task {
    case .unlock(let targets): targets.compactMap { if case .item(let path) = $0 { path } else { nil } }
    case .delete(let path): [path]
    case .makeCollection, .remove, .fulfill: []
    }
  }

  /// Removes a collection in the program's turns.
  private func step(_ removal: KeyringRemoval) {
    guard isOpen, terms.isStillAsking() else { return }
    do throws(KeyringFault) {
      if try keyring.step(removal, for: terms.caller) { return end(.deleted) }
    } catch {
      isRemoving = false
      if mayPass(error) { return refused() }
      guard error == .isLocked, !keyring.isUnlocked else { return end(.dismissed) }
      isRemovalStopped = true
      return askLater()
    }
    whenDecidable { [weak self] in self?.step(removal) }
  }

  /// True if the program lacks something.
  private var isLacking: Bool {
    switch task {
    case .unlock(let targets): targets.contains { keyring.mayBeServed($0, caller) && !keyring.serves($0, caller) }
    case .makeCollection: !keyring.serves(.collection(.login), caller)
    case .delete(let path): keyring.mayBeServed(.item(path), caller) && !keyring.serves(.item(path), caller)
    case .remove(let collection):
      keyring.has(collection) && !keyring.serves(.collection(collection), caller)
    case .fulfill(let wish): !keyring.serves(wish, caller)
    }
  }

  private func lack() throws(Refusal) -> Wait? {
    switch task {
    case .unlock(let targets):
      for target in targets {
        if case .item(let path) = target, isUnmatched(path) {
          guard let wait = try keyring.lackToFind(at: path, terms.caller, terms.said()) else { continue }
          // The search is made again with the right.
          hasMatched = false
          return wait
        }
        if let wait = try keyring.lack(target, terms.caller, terms.said()) { return wait }
      }
      return nil
    case .makeCollection: return try keyring.lack(.collection(.login), terms.caller, terms.said())
    case .delete(let path):
      return isUnmatched(path) ? nil : try keyring.lack(.item(path), terms.caller, terms.said())
    case .remove(let collection): return try keyring.lack(.collection(collection), terms.caller, terms.said())
    case .fulfill(let wish): return try keyring.lack(wish, terms.caller, terms.said())
    }
  }

  /// Does what the prompt is for; nil if that goes on in later turns, or is tried again later.
  private func result() throws(KeyringFault) -> End? {
    switch task {
    case .unlock(let targets):
      let served = targets.filter { keyring.serves($0, caller) }
      // The store may tell later what it fails to tell now: once it was repaired, for example.
      guard served.count == targets.count || !self.targets.contains(where: { keyring.isUnreadable($0, for: caller) })
      else {
        refused()
        return nil
      }
      return .unlocked(served)
    case .makeCollection(let sealed, let isStandard):
      guard let label = try sealed.open(in: asking.vault)?.first else { throw .noSuchObject }
      return .made(try keyring.makeCollection(label, isStandard: isStandard, for: terms.caller))
    case .delete(let path):
      try keyring.delete(path, for: terms.caller)
      return .deleted
    case .remove(let collection):
      let removal = try keyring.remove(collection, for: terms.caller)
      isRemoving = true
      whenDecidable { [weak self] in self?.step(removal) }
      return nil
    case .fulfill(let wish):
      try keyring.fulfill(wish, for: terms.caller)
      return .fulfilled
    }
  }
}
