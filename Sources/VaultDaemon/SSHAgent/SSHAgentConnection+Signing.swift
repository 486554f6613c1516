internal import VaultModel
internal import VaultService
internal import VaultSigning

/// Signatures: of a login, or of a message as `ssh-keygen -Y sign` and git have it, and of nothing else.
extension SSHAgentConnection {
  func sign(_ request: SignRequest, _ data: [UInt8]) {
    guard let caller else { return }
    let matter: SignedMatter
    do throws(SSHFormatError) { matter = try SignedMatter(data, request) } catch {
      door.items.recordForSSH("ssh signature", .denied(error.reason), for: caller)
      return refuse(error.reason)
    }
    let words = matter.words(bindings) { [door] key in
      door.knownHosts.name(of: key, candidates: KnownHostsFile.candidates(of: caller.pid))
    }
    if let key = door.sessionKeys.all.first(where: { $0.blob == request.key }) {
      return sign(by: key, matter, data, request.flags.rawValue, words)
    }
    wait(for: request.key, Said(purpose: words)) { [weak self] () throws(Refusal) in
      guard let self, let caller = self.caller else { return nil }
      let listing = try door.keys.keys(for: caller)
      guard let key = listing.keys.first(where: { $0.blob == request.key }) else {
        if !listing.isWhole, door.vault.state.kind != .unlocked { return .unlock }
        throw .denied("no key is the one that is asked for")
      }
      let said = Said(purpose: "\(words) with \(key.name)")
      return try door.items.signForSSH(
        key.name, data, flags: request.flags.rawValue, detail: words, for: caller, said
      ) { signature in
        reply(.signature(signature))
      }
    }
  }

  /// Signs by a key of this session, within the destinations that it was added for.
  private func sign(
    by key: SessionKey, _ matter: SignedMatter, _ data: [UInt8], _ flags: UInt32, _ words: String
  ) {
    guard let caller else { return }
    let detail = "\(words) with a key of this session"
    do throws(AgentRefusal) {
      if let destinations = key.constraints.destinations {
        _ = try destinations.permitSigning(matter.login, over: bindings)
      }
    } catch {
      door.items.recordForSSH(detail, .denied(error.reason), for: caller)
      return refuse(error.reason)
    }
    do throws(SigningError) {
      let signature = try key.sign(data, flags: flags)
      door.items.recordForSSH(detail, nil, for: caller)
      reply(.signature(signature))
    } catch {
      refuse(error.reason)
    }
  }
}
