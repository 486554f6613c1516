internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultSSH
internal import VaultService
internal import VaultSigning

/// Handles each kind of request.
extension SSHAgentConnection {
  func handle(_ request: AgentRequest, _ frame: RawSpan) {
    // The request for a signature adds its own details to the audit log.
    if door.lock.isLocked || !request.isSignature { note(request) }
    if request.changesAgent, let bar = barToChanges { return refuse(bar) }
    if door.lock.isLocked { return handleLocked(request, frame) }
    switch request {
    case .list: list()
    case .sign(let request): sign(request, frame.extracting(request.data).array)
    case .add(let key): add(key, frame)
    case .remove(let blob):
      guard visibleSessionKeys().contains(where: { $0.blob == blob }), door.sessionKeys.remove(blob) else {
        return refuse("the session has no such key", .missing)
      }
      reply(.success)
    case .removeAll:
      let visible = Set(visibleSessionKeys().map(\.blob))
      door.sessionKeys.removeAll { visible.contains($0.blob) }
      reply(.success)
    case .lock(let passphrase):
      if door.lock.lock(frame.extracting(passphrase)) {
        reply(.success)
      } else {
        refuse("the agent is locked", .invalid)
      }
    case .unlock: refuse("the agent is not locked", .invalid)
    case .bind: answerBinding()
    case .query: reply(.extensions(["query", SessionBind.name]))
    case .unknownExtension, .unsupported: reply(.failure, .invalid)
    }
  }

  /// Records the request for the audit log.
  func note(_ request: AgentRequest) {
    switch request {
    case .list: note(.find, Self.listing + ofRelay)
    case .sign(let request): note(.use, Self.signature(request) + ofRelay)
    case .add: note(.use, "ssh-add" + ofRelay)
    case .remove(let blob): note(.use, "ssh-add -d of \(PublicKey.fingerprint(ofSSHBlob: blob))" + ofRelay)
    case .removeAll: note(.use, "ssh-add -D" + ofRelay)
    case .bind(let bind?):
      let key = (try? bind.signer()) ?? bind.hostKey
      note(.call, "host key \(PublicKey.fingerprint(ofSSHBlob: key))")
    case .lock, .unlock: if let relay { note(.call, relay) }
    case .bind(nil), .query, .unknownExtension, .unsupported: break
    }
  }

  /// The words for whoever asks through a host to which the agent is forwarded; nil for a client on this machine.
  private var relay: String? {
    guard let pid = caller?.pid else { return nil }
    return bindings.relay { door.knownHosts.name(of: $0, candidates: KnownHostsFile.candidates(of: pid)) }
  }

  /// The same words at the end of others.
  private var ofRelay: String { relay.map { ", " + $0 } ?? "" }

  func note(_ action: AuditAction, _ detail: String) {
    if let caller { door.vault.audit.isAbout(action, detail: detail, for: caller) }
  }

  private static let listing = "keys for ssh"

  static func signature(_ request: SignRequest) -> String {
    "ssh signature with \(PublicKey.fingerprint(ofSSHBlob: request.key))"
  }

  /// Handles a request while the agent is locked: only the right passphrase unlocks the agent. As with OpenSSH's agent,
  /// no key is shown.
  private func handleLocked(_ request: AgentRequest, _ frame: RawSpan) {
    switch request {
    case .list: reply(.identities([]), .locked)
    // The origin of the connection still counts once the agent is unlocked.
    case .bind: answerBinding()
    case .unlock(let passphrase):
      door.lock.unlock(frame.extracting(passphrase)) { [weak self] in
        self?.checkStillAsking() == true
      } then: { [weak self] isRight in
        if isRight { self?.reply(.success) } else { self?.refuse("the passphrase is wrong", .unproven) }
      }
    case .sign, .add, .remove, .removeAll, .lock, .query, .unknownExtension, .unsupported:
      refuse("the agent is locked", .locked)
    }
  }

  /// The reason why the client may not change the keys of the session or lock the agent; nil if it may.
  ///
  /// A host to which the agent is forwarded may use its keys, but must not take the agent from its user.
  private var barToChanges: String? {
    if !isOwn { return "a process confined to its grants cannot change the agent" }
    return bindings.isForwarded ? "another host cannot change the agent" : nil
  }

  /// True for a process of the user that is not confined to its grants.
  private var isOwn: Bool { caller.map { door.access.isAdministrator($0) } ?? false }

  /// Returns the keys of this session that the connection may see.
  ///
  /// - Parameter evenElsewhere: true to include keys for other hosts than the one that the connection leads to.
  func visibleSessionKeys(evenElsewhere: Bool = false) -> [SessionKey<KeyConstraints>] {
    guard isOwn else { return [] }
    return door.sessionKeys.all.filter { key in
      evenElsewhere || key.constraints.destinations?.permitsListing(over: bindings) ?? true
    }
  }

  // MARK: Listing

  private func list() {
    let said = Said(task: "list of the keys for SSH")
    wait(AskedCall.About(.find, detail: Self.listing + ofRelay), said) { [weak self] _ throws(Refusal) in
      guard let self, let caller else { return nil }
      let own = own
      let listing: SSHKeys.Listing
      do throws(Refusal) { listing = try door.keys.keys(for: caller) } catch .noVault {
        reply(Self.answer([], and: own), of: own.count)
        return nil
      }
      if !listing.isWhole, door.vault.state.kind != .unlocked { return .unlock }
      reply(answer(listing, and: own), of: listing.keys.count + own.count)
      return nil
    }
  }

  /// Sends a list of keys.
  ///
  /// - Parameter all: the number of the keys that there are for the caller.
  private func reply(_ answer: SSHKeys.Answer, of all: Int) {
    let keys = Counted.text(all, "key")
    note(.find, (answer.count < all ? "\(answer.count) of \(keys) for ssh" : "\(keys) for ssh") + ofRelay)
    reply(encoded: answer.bytes)
  }

  /// Returns the list of the keys in `listing`, followed by `others`, the keys of this session.
  private func answer(_ listing: SSHKeys.Listing, and others: [AgentReply.Identity]) -> SSHKeys.Answer {
    // Keys of this session come and go without an event of the vault, so an answer that contains one is not kept.
    guard others.isEmpty else { return Self.answer(listing.keys, and: others) }
    return door.keys.answer(listing) { keys in Self.answer(keys, and: []) }
  }

  /// Makes the list of `keys` and `others`. If not all fit, all of `others` are listed, and of `keys` the ones whose
  /// names come first, so that the user can choose them by name.
  private static func answer(_ keys: [SSHKeys.Key], and others: [AgentReply.Identity]) -> SSHKeys.Answer {
    var listed = keys.map { AgentReply.Identity(key: $0.blob, comment: $0.name.text) }
    if AgentReply.fitting(listed, before: others) < listed.count {
      listed = keys.sorted { $0.name < $1.name }.map { AgentReply.Identity(key: $0.blob, comment: $0.name.text) }
      listed.removeLast(listed.count - AgentReply.fitting(listed, before: others))
    }
    listed += others
    return SSHKeys.Answer(AgentReply.identities(listed).encoded(), count: AgentReply.fitting(listed))
  }

  private var own: [AgentReply.Identity] {
    visibleSessionKeys().map { AgentReply.Identity(key: $0.blob, comment: $0.comment) }
  }

  // MARK: Keys of this session

  private func add(_ added: AddedKey, _ frame: RawSpan) {
    defer { Stack.wipe() }
    do throws(KeyError) {
      let key = try PrivateKey(agentForm: frame.extracting(added.privateKey))
      note(.use, "ssh-add of \(key.publicKey.fingerprint)")
      do throws(Refusal) {
        try door.sessionKeys.add(
          key, comment: added.comment, added.constraints, lifetime: added.constraints.lifetime)
      } catch {
        return refuse(error.reason, error.outcome)
      }
      reply(.success)
    } catch {
      refuse(error.reason, .invalid)
    }
  }

  // MARK: Sessions

  /// Takes in the session to which the connection is bound, or notes that the connection can come from anywhere. This
  /// happens before anything can refuse the request, because later requests count as those of another host.
  func takeIn(_ bind: SessionBind?) {
    bindingFault = nil
    defer { caller?.session?.come(over: bindings) }
    guard let bind else {
      bindings.fail()
      bindingFault = ("a binding to a session cannot be read", .invalid)
      return
    }
    // Bytes have no padding.
    guard let signer = try? bind.signer(), let key = try? PublicKey(sshBlob: unsafe signer.span.bytes),
      key.verifies(sshSignature: unsafe bind.signature.span.bytes, of: unsafe bind.signedBytes.span.bytes)
    else {
      bindings.fail()
      bindingFault = ("the host's signature of a binding is not valid", .denied)
      return
    }
    do throws(AgentRefusal) { try bindings.add(bind) } catch { bindingFault = (error.reason, .denied) }
  }

  /// Answers a binding that ``takeIn(_:)`` has looked at.
  private func answerBinding() {
    if let fault = bindingFault { refuse(fault.reason, fault.outcome) } else { reply(.success) }
  }
}

extension AgentRequest {
  fileprivate var isSignature: Bool { if case .sign = self { true } else { false } }

  /// True for requests that change the keys of the session or lock the agent. Only the user may make them, on this
  /// machine.
  fileprivate var changesAgent: Bool {
    switch self {
    case .add, .remove, .removeAll, .lock, .unlock: true
    case .list, .sign, .bind, .query, .unknownExtension, .unsupported: false
    }
  }
}
