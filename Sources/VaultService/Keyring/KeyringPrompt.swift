internal import VaultCore
package import VaultModel
internal import VaultStore

/// A collection or an item that a program wants unlocked.
package enum KeyringTarget: Hashable, Sendable {
  case collection(CollectionID)
  case item(KeyringPath)
}

/// A prompt: a program's wish for something that it lacks. It stays open until all that the program lacked is there, by
/// whatever way, or until a person refuses it or the program drops it. Programs destroy data after any other end, so
/// neither an unanswered question nor a question that a person puts off ends it.
package final class KeyringPrompt {
  /// The purpose of a prompt.
  package enum Task {
    case unlock([KeyringTarget])
    case makeCollection(label: String, isStandard: Bool)
    case delete(KeyringPath)
  }

  /// The end of a prompt.
  package enum End: Equatable {
    /// The targets that are served now.
    case unlocked([KeyringTarget])
    case made(CollectionID)
    case deleted
    case dismissed
  }

  package let task: Task
  private let keyring: Keyring
  private let asking: Asking
  private let terms: AskedCall.Terms
  private let line: Line
  private var completed: ((End) -> Void)?
  private var call: AskedCall?
  private var isBegun = false

  /// - Parameters:
  ///   - terms: the program's call, with its patience: usually without an end.
  ///   - line: the line of the program's calls.
  ///   - completed: called once, with the end of the prompt.
  package init(
    _ task: Task, _ keyring: Keyring, _ asking: Asking, _ terms: AskedCall.Terms, _ line: Line,
    completed: @escaping (End) -> Void
  ) {
    (self.task, self.keyring, self.asking, self.terms, self.line) = (task, keyring, asking, terms, line)
    self.completed = completed
  }

  /// True while the prompt has not ended.
  package var isOpen: Bool { completed != nil }

  /// Begins to ask a person for what the program lacks. If it lacks nothing any more, the prompt ends at once.
  package func begin() {
    guard isOpen, !isBegun else { return }
    isBegun = true
    call = AskedCall.begin(terms, in: asking, line) { [weak self] () throws(Refusal) in
      try self?.goOn()
    } refuse: { [weak self] _ in
      self?.end(.dismissed)
    }
  }

  /// Ends the prompt without a result: the program drops it, or a person refuses it.
  package func dismiss() {
    call?.callOff()
    end(.dismissed)
  }

  private func end(_ end: End) {
    call = nil
    completed.take()?(end)
  }

  /// Does what the prompt is for, as soon as the program lacks nothing for it; otherwise returns the event to wait for.
  private func goOn() throws(Refusal) -> Wait? {
    if let wait = try lack() { return wait }
    do throws(KeyringFault) { end(try result()) } catch {
      switch error {
      // Another program, or a lock, was faster.
      case .isLocked: return .unlock
      case .noSuchObject, .readOnly, .limitsExceeded, .refused: end(.dismissed)
      }
    }
    return nil
  }

  private func lack() throws(Refusal) -> Wait? {
    switch task {
    case .unlock(let targets):
      for target in targets { if let wait = try keyring.lack(target, terms.caller, terms.said()) { return wait } }
      return nil
    case .makeCollection: return try keyring.lack(.collection(.login), terms.caller, terms.said())
    case .delete(let path): return try keyring.lack(.item(path), terms.caller, terms.said())
    }
  }

  private func result() throws(KeyringFault) -> End {
    switch task {
    case .unlock(let targets): return .unlocked(targets.filter { keyring.serves($0, terms.caller) })
    case .makeCollection(let label, let isStandard):
      return .made(try keyring.makeCollection(label, isStandard: isStandard, for: terms.caller))
    case .delete(let path):
      try keyring.delete(path, for: terms.caller)
      return .deleted
    }
  }
}

// The needs of programs.
extension Keyring {
  /// True if a caller lacks nothing for a target now.
  package func serves(_ target: KeyringTarget, _ caller: Caller) -> Bool {
    switch target {
    case .collection(let collection): return has(collection) && !isLocked(collection, for: caller)
    case .item(let path):
      guard let item = itemToServe(path) else { return isWithoutMatch(path) }
      return !isLocked(item, for: caller)
    }
  }

  /// The item at a path, without a record of the call; nil if there is none, or if nobody can tell now.
  private func itemToServe(_ path: KeyringPath) -> ItemInfo? {
    if path.collection == .session, let id = KeyringID(path.element) { return try? ofSession.item(id) }
    guard let name = try? name(of: path) else { return nil }
    return try? vault.openKeychain?.item(named: name)
  }

  /// True if there is a target that could be served, or if nobody can tell now.
  package func mayBeServed(_ target: KeyringTarget) -> Bool {
    switch target {
    case .collection(let collection): return has(collection)
    case .item(let path):
      return has(path.collection) && (hidesItems || itemToServe(path) != nil) || isPlaceholder(path)
    }
  }

  /// The event that a caller has to wait for before a target is served; nil if it is served, or if there is no such
  /// target.
  func lack(_ target: KeyringTarget, _ caller: Caller, _ said: Said) throws(Refusal) -> Wait? {
    guard !hidesItems, let keychain = vault.openKeychain else { return .unlock }
    switch target {
    case .collection(let collection):
      guard has(collection), isLocked(collection, for: caller) else { return nil }
      guard collection != .session, collection != .shared, keychain.opensValues(of: settings.accessible),
        let name = try? Self.name(of: KeyringID(number: 0), in: collection)
      else { return .unlock }
      // A grant for the folder ends the request for an item that stands for all of it.
      let permit = access.permit(caller, on: name)
      for right in [Right.get, .set] where !permit.has(right, settings.accessible) {
        return try items.waitOrAsk(right, name, permit, caller, said)
      }
      return nil
    case .item(let path):
      if isPlaceholder(path), !isWithoutMatch(path), itemToServe(path) == nil { return .unlock }
      guard let item = itemToServe(path), isLocked(item, for: caller) else { return nil }
      let name = item.name
      guard keychain.opensValues(of: item.policy.accessible) else { return .unlock }
      let permit = access.permit(caller, on: name)
      switch access.decide(.get, permit, item.policy, for: caller) {
      case .allow, .allowWithin: return nil
      case .ask: return .presence(name, item.policy.require)
      case .refuse: return try items.waitOrAsk(.get, name, permit, caller, said)
      }
    }
  }
}
