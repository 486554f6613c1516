internal import VaultService

/// A long secret that a call brings, decoded in one turn and stored in a later one. A lock wipes it.
private final class DecodedSecret: SecretHolder {
  private var secret: Keyring.Secret?

  init(_ secret: Keyring.Secret, in vault: Vault) {
    self.secret = secret
    super.init(in: vault.holders)
  }

  /// Takes the secret out.
  func take() throws(BusError) -> Keyring.Secret {
    // The client unlocks and repeats what was to be stored.
    guard let secret = secret.take() else { throw .isLocked }
    return secret
  }

  override func letGo(for lock: Lock) { if lock.isEffective { secret = nil } }
  override func outlives(_ lock: Lock) -> Bool { lock.isEffective && secret != nil }
}

extension SecretServiceDoor {
  typealias ReadSecret = () throws(BusError) -> Keyring.Secret

  /// Does the rest of a call that stores a secret. A long secret takes long to decode, and long to store, so it is
  /// decoded first, and the rest has a turn of its own.
  ///
  /// - Parameters:
  ///   - skipped: the number of values before the secret in the call.
  ///   - rest: gets a function that returns the secret, to be called once. A short secret is decoded only then, so that
  ///     it is not in memory twice while the call waits.
  func withSecret(
    of request: BusRequest, after skipped: Int = 0, _ peer: BusPeer,
    _ rest: @escaping (@escaping ReadSecret) throws(BusError) -> Void
  ) throws(BusError) {
    let read: ReadSecret = { [unowned self] () throws(BusError) in
      try request.message.rewind()
      for _ in 0..<skipped { try request.message.skip() }
      return try secret(request.message, peer)
    }
    guard peers.isLong(request) else { return try rest(read) }
    let decoded = DecodedSecret(try read(), in: vault)
    turns.wait(peer.line, first: true) { [weak self] in
      guard let self, peer.isRunning else { return request.fail(.disconnected) }
      vault.checkDeadlines()
      do throws(BusError) {
        try request.part { () throws(BusError) in
          try rest { () throws(BusError) in try decoded.take() }
        }
      } catch {
        request.fail(error)
      }
    }
  }
}
