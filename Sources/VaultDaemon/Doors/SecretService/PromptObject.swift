internal import VaultModel
internal import VaultService

/// A prompt of a client, at an object path of its own.
final class ClientPrompt {
  let number: Int
  let peer: BusPeer
  fileprivate var prompt: KeyringPrompt?

  init(_ number: Int, _ peer: BusPeer) { (self.number, self.peer) = (number, peer) }

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
          prompt.prompt?.begin()
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

  /// Makes a prompt for a client.
  ///
  /// - Parameter spelled: the paths of the targets as the client wrote them.
  func makePrompt(
    _ task: KeyringPrompt.Task, spelled: [KeyringTarget: [String]] = [:], for peer: BusPeer
  ) throws(BusError) -> SecretPath {
    let client = ClientPrompt(nextNumber(), peer)
    let terms = AskedCall.Terms(
      peer.caller, patience(of: peer.caller), about: AskedCall.About(.find, detail: "a prompt of the keyring"),
      saying: { Said(purpose: "to use the keyring") }, isStillAsking: { peer.isRunning })
    client.prompt = KeyringPrompt(task, keyring, asking, terms, peer.line) { [weak self, weak client] end in
      if let self, let client { completed(client, task, end, spelled) }
    }
    try keep(client)
    return .prompt(client.number)
  }

  /// The programs that people run over ssh and from timers, where nobody may be there to answer.
  private static let impatient = ["secret-tool", "git-credential-libsecret", "docker-credential-secretservice"]
  private static let shortPatience: Int64 = 120_000_000_000

  private func patience(of caller: Caller) -> Patience {
    let program = caller.memory.executable().map { $0.split(separator: "/").last.map(String.init) ?? $0 }
    guard let program, Self.impatient.contains(program) else { return .anyway(until: nil) }
    return .anyway(until: vault.clock.monotonic() + Self.shortPatience)
  }

  /// Tells the client the end of its prompt, with a result of the type that libsecret expects for the task.
  private func completed(
    _ client: ClientPrompt, _ task: KeyringPrompt.Task, _ end: KeyringPrompt.End, _ spelled: [KeyringTarget: [String]]
  ) {
    forget(client)
    guard client.peer.isHere else { return }
    let path = SecretPath.prompt(client.number).text
    try? bus.signal("Completed", of: Self.promptName, at: path, to: client.peer.name) { writer in
      writer.flag(end == .dismissed)
      switch task {
      case .unlock:
        var paths: [String] = []
        if case .unlocked(let targets) = end {
          paths = targets.flatMap { spelled[$0] ?? [$0.path.text] }
        }
        writer.variant(of: "ao") { writer.paths(paths) }
      case .makeCollection:
        var path = "/"
        if case .made(let collection) = end { path = SecretPath.collection(collection).text }
        writer.variant(of: "o") { writer.path(path) }
      case .delete: writer.variant(of: "s") { writer.string("") }
      }
    }
  }
}
