internal import VaultCore

/// The fingers that are enrolled, as slots have to know them.
extension Service {
  /// Asks fprintd about a user of this machine.
  func askFingers(_ uid: UInt32, then: @escaping (Fingers) -> Void) {
    // To fprintd no name is the caller's; so no name service is asked in the usual case.
    if uid == owner { return FingerprintReader.ask(triggers?.systemBus, for: "", then: then) }
    workers.run(on: loop) {
      UserName.of(uid)
    } then: { [unowned self] name in
      guard let name else { return then(.unknown("uid \(uid) is no user of this machine")) }
      FingerprintReader.ask(triggers?.systemBus, for: name, then: then)
    }
  }

  /// Asks about one user after the other; what cannot be known of one counts as none.
  func askFingers(ofAll users: ArraySlice<UInt32>, found: [String] = [], then: @escaping ([String]) -> Void) {
    guard let uid = users.first else { return then(found) }
    askFingers(uid) { [unowned self] fingers in
      askFingers(ofAll: users.dropFirst(), found: found + PresenceTerms.entries(fingers.names, of: uid), then: then)
    }
  }
}

// A slot that counts for many users records whose each finger is: `1000/right-thumb`.
extension PresenceTerms {
  static func entries(_ fingers: [String], of uid: UInt32) -> [String] { fingers.map { "\(uid)/\($0)" } }

  /// The names recorded for a user, sorted.
  func fingers(of uid: UInt32) -> [String] {
    let mark = "\(uid)/"
    return fingers.filter { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }.sorted()
  }

  /// The record to make when a user's fingers are others now.
  func fingers(with names: [String], of uid: UInt32) -> [String] {
    fingers.filter { !$0.hasPrefix("\(uid)/") } + Self.entries(names, of: uid)
  }
}
