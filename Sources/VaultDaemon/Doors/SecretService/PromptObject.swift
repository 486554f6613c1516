internal import VaultModel
internal import VaultService

/// A prompt of a client, at an object path of its own.
final class ClientPrompt {
  let number: Int
  let peer: BusPeer
  /// The task for which this prompt may be given again; nil for a new collection, which always gets a new prompt.
  fileprivate let task: KeyringPrompt.Task?
  let asked: AskedPaths
  fileprivate var prompt: KeyringPrompt?

  init(_ number: Int, _ peer: BusPeer, _ task: KeyringPrompt.Task, _ asked: AskedPaths) {
    (self.number, self.peer, self.asked) = (number, peer, asked)
    if case .makeCollection = task { self.task = nil } else { self.task = task }
  }

  /// True if the client gets this prompt again for the same task, because it has not begun the prompt yet. The part of
  /// the client that began a prompt may dismiss it, so the client then gets another prompt, which joins the same
  /// question.
  fileprivate func stands(for task: KeyringPrompt.Task, _ asked: AskedPaths, _ peer: BusPeer) -> Bool {
    self.peer === peer && prompt?.isBegun == false && self.task == task && self.asked == asked
  }

  /// Ends without telling the client, which is gone.
  func leave() { prompt?.dismiss() }
}

// org.freedesktop.Secret.Prompt.
extension SecretServiceDoor {
  var promptInterface: BusInterface {
    BusInterface(
      Self.promptName,
      methods: [
        .init("Prompt", takes: ["window-id": "s"]) { [unowned self] request, peer throws(BusError) in
          let prompt = try prompt(request.path, peer)
          request.reply()
          begin(prompt)
        },
        .init("Dismiss") { [unowned self] request, peer throws(BusError) in
          let prompt = try prompt(request.path, peer)
          request.reply()
          prompt.prompt?.dismiss()
        },
      ], signals: [.init("Completed", carries: ["dismissed": "b", "result": "v"])])
  }

  private func prompt(_ text: String, _ peer: BusPeer) throws(BusError) -> ClientPrompt {
    guard case .prompt(let number)? = path(text), let prompt = prompts[number], prompt.peer === peer else {
      throw .noSuchObject
    }
    return prompt
  }

  /// The most paths of all prompts of one holder. Beyond that number, a new prompt has only `few` paths. The unlock
  /// also unlocks the objects whose paths were left out.
  private static let (mostOfHolder, few) = (4096, 16)

  /// Makes a prompt for what a client lacks. The room for the prompt's paths is determined only now, because the
  /// client's other calls may have made prompts since this call began.
  func makePrompt(unlocking asked: AskedPaths, for peer: BusPeer) throws(BusError) -> SecretPath {
    let holder = peers.holder(of: peer)
    let own = prompts.values.filter { peers.holder(of: $0.peer) == holder }.reduce(0) { $0 + $1.asked.count }
    var asked = asked
    asked.shorten(to: min(AskedPaths.most, max(Self.few, Self.mostOfHolder - own)))
    return try makePrompt(.unlock(asked.targets), asked, for: peer)
  }

  /// Makes a prompt for a client.
  func makePrompt(
    _ task: KeyringPrompt.Task, _ asked: AskedPaths = AskedPaths(), for peer: BusPeer
  ) throws(BusError) -> SecretPath {
    if let same = prompts.values.first(where: { $0.stands(for: task, asked, peer) }) { return .prompt(same.number) }
    return .prompt(try makePrompt(task, asked, nextNumber(), for: peer).number)
  }

  private func makePrompt(
    _ task: KeyringPrompt.Task, _ paths: AskedPaths, _ number: Int, for peer: BusPeer
  ) throws(BusError) -> ClientPrompt {
    let client = ClientPrompt(number, peer, task, paths)
    let terms = AskedCall.Terms(
      peer.caller, .untilServed, about: AskedCall.About(.find, detail: "a prompt of the keyring"),
      saying: { Said(purpose: "to use the keyring") }, isStillAsking: { peer.isRunning })
    client.prompt = try asked { () throws(KeyringFault) in
      try KeyringPrompt(
        task, keyring, asking, terms, peer.line,
        within: keyring.settings.limits.limit(of: peer.caller.memory.executable())
      ) { [weak self, weak client] end in
        if let self, let client { completed(client, end) }
      }
    }
    keep(client)
    return client
  }

  /// Begins a prompt. If this daemon ends before the prompt, the next daemon takes up the prompt.
  private func begin(_ client: ClientPrompt) {
    guard let prompt = client.prompt, !prompt.isBegun else { return }
    if prompt.kind == .unlock, let started = client.peer.caller.started {
      // The next daemon checks all paths, including the ones that are served now.
      let all = client.asked.lacking + client.asked.absent + client.asked.served
      let paths = all.map { path in
        let search = path.target.item.flatMap { keyring.sealedSearch(at: $0, of: client.peer.caller) }
        // The path of a shared item tells its name, so its collection stands for it.
        guard search != nil || path.target.mayBeKept else {
          return KeptPrompts.Path(text: SecretPath.collection(.shared).text, sealed: keyring.seal(path: path.text))
        }
        return KeptPrompts.Path(text: path.text, search: search, sealed: path.sealed)
      }
      kept.add(
        KeptPrompts.Entry(
          number: client.number, name: client.peer.name, pid: client.peer.caller.pid, started: started, paths: paths),
        on: bus.id)
    }
    prompt.begin()
  }

  /// Takes up the prompts of an earlier daemon, whose clients wait for their ends.
  func takeUpKept() {
    for entry in kept.take(on: bus.id) {
      takeUp(entry, Self.pauses[...])
    }
  }

  /// The pauses, in seconds, before the bus is asked again who a client is.
  private static let pauses: [Int64] = [1, 4, 16, 64]

  private func takeUp(_ entry: KeptPrompts.Entry, _ pauses: ArraySlice<Int64>) {
    peers.find(entry.name) { [weak self] found in
      guard let self else { return }
      switch found {
      case .success(let peer?) where peer.caller.pid == entry.pid && peer.caller.started == entry.started:
        takeUp(entry, for: peer)
      case .success: kept.remove(entry.number)
      case .failure:
        // Each new connection to the bus takes up all kept prompts again.
        guard bus.isConnected else { return }
        guard let pause = pauses.first else { return kept.remove(entry.number) }
        let id = bus.id
        _ = timer.after(pause * 1_000_000_000) { [weak self] in
          if let self, bus.id == id { takeUp(entry, pauses.dropFirst()) }
        }
      }
    }
  }

  private func takeUp(_ entry: KeptPrompts.Entry, for peer: BusPeer) {
    guard prompts[entry.number] == nil else { return }
    var asked = AskedPaths()
    var known: Set<KeyringTarget> = []
    for kept in entry.paths {
      guard let target = path(kept.text)?.target else { continue }
      let isNew = known.insert(target).inserted
      if isNew, let path = target.item, let search = kept.search, keyring.takeUp(search, at: path, peer, peer.caller) {
        keepSearches(of: peer)
      }
      asked.add(target, kept.text, sealed: kept.sealed, to: \.lacking)
    }
    takeUp(asked, entry.number, for: peer)
  }

  private func takeUp(_ asked: AskedPaths, _ number: Int, for peer: BusPeer) {
    do throws(BusError) {
      begin(try makePrompt(.unlock(asked.targets), asked, number, for: peer))
    } catch {
      kept.remove(number)
    }
  }

  /// Returns the lacking paths with the sealed ones opened. A sealed path that cannot be opened is left out.
  private func open(_ asked: AskedPaths) -> AskedPaths {
    var opened = AskedPaths()
    for kept in asked.lacking {
      guard let sealed = kept.sealed else {
        opened.add(kept.target, kept.text, to: \.lacking)
        continue
      }
      guard let text = keyring.openPath(sealed), let target = path(text)?.target else { continue }
      opened.add(target, text, to: \.lacking)
    }
    return opened
  }

  /// Tells the client the end of its prompt, with a result of the type that libsecret expects for the task.
  private func completed(_ client: ClientPrompt, _ end: KeyringPrompt.End) {
    forget(client)
    guard client.peer.isHere, let kind = client.prompt?.kind else { return }
    // Now that its sealed paths can be opened, the prompt goes on until the objects that exist are served.
    if case .unlocked = end, client.asked.isSealed {
      let asked = open(client.asked)
      turns.wait(client.peer.line) { [weak self] in
        if client.peer.isHere { self?.takeUp(asked, client.number, for: client.peer) }
      }
      return
    }
    let path = SecretPath.prompt(client.number).text
    try? bus.signal("Completed", of: Self.promptName, at: path, to: client.peer.name) { writer in
      writer.flag(end == .dismissed)
      switch kind {
      case .unlock:
        var paths: [String] = []
        if case .unlocked(let targets) = end {
          let (now, asked) = (Set(targets), client.asked)
          paths = (asked.lacking + asked.absent).filter { now.contains($0.target) }.map(\.text)
          paths += asked.served.filter { keyring.serves($0.target, client.peer.caller) }.map(\.text)
        }
        writer.variant(of: "ao") { writer.paths(paths) }
      case .create:
        var path = "/"
        if case .made(let collection) = end { path = SecretPath.collection(collection).text }
        writer.variant(of: "o") { writer.path(path) }
      // The portal has no prompts of its own; see ``PortalCall``.
      case .delete, .retrieve: writer.variant(of: "s") { writer.string("") }
      }
    }
  }
}

extension KeyringTarget {
  /// True if the path of the target tells no name, so that it may lie in a file.
  fileprivate var mayBeKept: Bool {
    switch self {
    case .collection: true
    case .item(let path): path.collection != .shared
    }
  }

  fileprivate var item: KeyringPath? { if case .item(let path) = self { path } else { nil } }
}
