internal import VaultModel
internal import VaultSSH
internal import VaultService
internal import VaultSigning

/// Signatures of a login, or of a message in the format of `ssh-keygen -Y sign` and git. Nothing else is signed.
extension SSHAgentConnection {
  func sign(_ request: SignRequest, _ data: [UInt8]) {
    let matter: SignedMatter
    do throws(SSHFormatError) { matter = try SignedMatter(data, request) } catch {
      note(.sign(request))
      return refuse(error.reason)
    }
    if let login = matter.login, bindings.contradict(login) {
      note(.sign(request))
      return refuse("the login is for another host than its session")
    }
    caller?.session?.come(over: bindings, for: matter)
    guard let caller else { return }
    // Each host is looked up once, because the file may be long.
    var names: [[UInt8]: String] = [:]
    let words = { [door, bindings] (key: String?) in
      matter.words(by: key, over: bindings) { host in
        let name = names[host] ?? door.knownHosts.name(of: host, candidates: KnownHostsFile.candidates(of: caller.pid))
        names[host] = name
        return name
      }
    }
    if let key = visibleSessionKeys(evenElsewhere: true).first(where: { $0.blob == request.key }) {
      return sign(by: key, matter, data, request.flags.rawValue, words("with the session's key \(key.fingerprint)"))
    }
    let known = (try? door.keys.keys(for: caller))?.keys.first { $0.blob == request.key }?.name
    let detail = words(nil)
    let about =
      known.map {
        AskedCall.About(.use, $0.text, detail: "\(detail), by \(PublicKey.fingerprint(ofSSHBlob: request.key))")
      } ?? AskedCall.About(.use, detail: Self.signature(request))
    let order = door.items.rsaOrder(for: caller)
    wait(about, Said(task: words(known.map { "with \(Printable.quoted($0.text))" }))) {
      [weak self] _ throws(Refusal) in
      guard let self, let caller = self.caller else { return nil }
      let listing = try door.keys.keys(for: caller)
      guard let key = listing.keys.first(where: { $0.blob == request.key }) else {
        if !listing.isWhole, door.vault.state.kind != .unlocked { return .unlock }
        throw .denied("there is no such key")
      }
      return try door.items.signForSSH(
        Reading(key.name, for: caller), data, flags: request.flags.rawValue, detail: detail, order
      ) { signature in
        reply(.signature(signature))
      }
    }
  }

  /// Signs with a key of this session, within the destinations for which it was added.
  private func sign(
    by key: SessionKey<KeyConstraints>, _ matter: SignedMatter, _ data: [UInt8], _ flags: UInt32, _ detail: String
  ) {
    guard let caller else { return }
    note(.use, detail)
    do throws(AgentRefusal) {
      if let destinations = key.constraints.destinations {
        _ = try destinations.permitSigning(matter.login, over: bindings)
      }
    } catch {
      return refuse(error.reason)
    }
    let order = door.items.rsaOrder(for: caller)
    var isAllowed = !key.constraints.needsConfirmation
    wait(AskedCall.About(.use, detail: detail), Said(task: detail)) { [weak self] event throws(Refusal) in
      guard let self else { return nil }
      if event == .confirmation(key.fingerprint) { isAllowed = true }
      guard isAllowed else { return .confirmation(key.fingerprint) }
      // The key may have been removed in the meantime.
      guard door.sessionKeys.all.contains(where: { $0 === key }) else { throw .denied("the key is gone") }
      return makeSignature(by: key, data, flags, detail, order)
    }
  }

  /// Replies with a signature or a refusal, unless it returns something to wait for first.
  private func makeSignature(
    by key: SessionKey<KeyConstraints>, _ data: [UInt8], _ flags: UInt32, _ detail: String, _ order: RSAOrder
  ) -> Wait? {
    do throws(SigningError) {
      switch try key.sign(data, flags: flags, order) {
      case .waits(let wait): return wait
      case .made(let signature): reply(.signature(signature))
      }
    } catch {
      refuse(error.reason, .failed)
    }
    return nil
  }
}
