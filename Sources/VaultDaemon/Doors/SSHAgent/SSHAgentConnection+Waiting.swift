internal import VaultModel
internal import VaultService

/// Requests that wait for the vault or for a person. SSH's protocol has no error that says so, and its clients wait.
extension SSHAgentConnection {
  /// Makes a call, and makes it again after the event for which it waits. The call ends when the client closes the
  /// connection; then the question to a person is withdrawn.
  ///
  /// - Parameters:
  ///   - about: the content of the entry of a call that ends while it waits.
  ///   - said: the words for the person who is asked; evaluated only then.
  ///   - call: makes the call, with the event that has come since it was made last.
  func wait(
    _ about: AskedCall.About, _ said: @escaping @autoclosure () -> Said,
    _ call: @escaping (Wait?) throws(Refusal) -> Wait?
  ) {
    guard let caller else { return }
    let waiting = AskedCall.begin(about, for: caller, in: door.asking) { () throws(Refusal) in
      try call(nil)
    } refuse: {
      refuse($0)
    } kept: {
      repeated(
        call,
        AskedCall.Terms(caller, .usual(door.vault.clock), about: about, saying: said) { [weak self] in
          self?.checkStillAsking() == true
        } isReady: { [keys = door.keys, line = share.works] in
          keys.canList(line, otherwise: $0)
        })
    }
    if let waiting { asked = waiting }
  }

  /// The call as it is made again once an event has come.
  private func repeated(
    _ call: @escaping (Wait?) throws(Refusal) -> Wait?, _ terms: AskedCall.Terms
  ) -> AskedCall {
    AskedCall(terms, in: door.asking, line) { [weak self] event throws(Refusal) in
      guard let self else { return nil }
      guard !door.lock.isLocked else {
        refuse("the agent was locked meanwhile", .locked)
        return nil
      }
      return try call(event)
    } refuse: { [weak self] in
      self?.refuse($0)
    }
  }

  private func refuse(_ refusal: Refusal) { refuse(refusal.reason, refusal.outcome) }

  /// Ends a wait for consent to use a key of the session, if that key is gone.
  func checkAwaitedKey() {
    guard case .confirmation(let fingerprint)? = asked?.wait,
      !door.sessionKeys.all.contains(where: { $0.fingerprint == fingerprint })
    else { return }
    refuse("the key is gone", .missing)
  }

  func stopWaiting() {
    asked?.callOff()
    asked = nil
  }

  /// True if a lock ends the request that waits.
  func isEnded(by lock: Lock) -> Bool {
    guard let wait = asked?.wait else { return false }
    if case .confirmation = wait { return true }
    return wait.tellsName && lock.reach.contains(.names)
  }
}
