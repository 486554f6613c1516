internal import VaultCore
internal import VaultModel
package import VaultSigning

/// A key that `ssh-add` has handed over, kept for as long as the vault stays unlocked, with the constraints that the
/// door puts on its use. A call that waits may hold the object after its removal, but the private key is wiped then.
package final class SessionKey<Constraints> {
  /// The public half in SSH's form.
  package let blob: [UInt8]
  private let publicKey: PublicKey
  package let comment: String
  /// The fingerprint, as `ssh-add -l` shows it.
  package var fingerprint: String { publicKey.fingerprint }
  package let constraints: Constraints
  /// The time at which the key is removed, in `CLOCK_BOOTTIME` nanoseconds; nil for never.
  fileprivate let end: Int64?
  /// The private key in OpenSSH's form, until the key is removed.
  private let key: Handover

  fileprivate init(_ key: borrowing PrivateKey, _ comment: String, _ constraints: Constraints, end: Int64?) {
    publicKey = key.publicKey
    (blob, self.comment, self.constraints, self.end) = (publicKey.sshBlob, comment, constraints, end)
    // A PrivateKey would occupy a part of libgcrypt's small memory pool for its whole life.
    self.key = Handover(key.openSSHPrivate())
  }

  /// Wipes the private key.
  fileprivate func wipe() { _ = key.take() }

  /// A signature of `data` in SSH's form.
  ///
  /// - Parameter order: the work of this call with large RSA keys, the same object in each attempt.
  package func sign(_ data: [UInt8], flags: UInt32, _ order: RSAOrder) throws(SigningError) -> SSHSigned {
    order.begin()
    defer { order.end() }
    do throws(SigningError) { return .made(try signature(data, flags, order)) } catch {
      if let wait = order.wait { return .waits(wait) }
      throw error
    }
  }

  private func signature(_ data: [UInt8], _ flags: UInt32, _ order: RSAOrder) throws(SigningError) -> [UInt8] {
    let key = try opened()
    // Bytes have no padding.
    return try publicKey.sshSignature(of: unsafe data.span.bytes, flags: flags) {
      (message, scheme) throws(SigningError) in
      try order.sign(message, by: key, scheme, of: .whenUnlocked)
    }
  }

  private func opened() throws(SigningError) -> PrivateKey {
    let opened: PrivateKey?
    do throws(KeyError) {
      opened = try key.withSecret { (key: borrowing SecureBytes) throws(KeyError) in
        try key.withBytes { (text: RawSpan) throws(KeyError) in try PrivateKey(text, trusting: publicKey) }
      }
    } catch { throw SigningError(error) }
    guard let opened else { throw SigningError("the key is gone") }
    return opened
  }
}

/// A signature by a key of the session, or the wait before it.
package enum SSHSigned {
  case made([UInt8])
  case waits(Wait)
}

/// The keys that clients of the ssh-agent have added, kept in memory only and until a lock.
package final class SessionKeys<Constraints>: SecretHolder {
  /// The most keys that are kept.
  package static var most: Int { 64 }

  private let vault: Vault
  private let timer: Timer
  private var keys: [SessionKey<Constraints>] = []
  private var ending: Timer.Cancel?
  /// Runs when keys were removed, except at a lock, which is announced to everybody.
  package var someAreGone: () -> Void = {}

  package init(_ vault: Vault, _ timer: Timer) {
    (self.vault, self.timer) = (vault, timer)
    super.init(in: vault.holders)
  }

  /// The present keys, in the order in which they were added.
  package var all: [SessionKey<Constraints>] {
    drop()
    return keys
  }

  /// Adds a key. If the same key was added before, it is replaced.
  ///
  /// - Parameter lifetime: the seconds after which the key is removed; nil for never.
  /// - Throws: the refusal, also while the vault is locked, because a lock has removed all other keys.
  package func add(
    _ key: borrowing PrivateKey, comment: String, _ constraints: Constraints, lifetime: UInt32?
  ) throws(Refusal) {
    guard vault.state.kind == .unlocked else { throw vault.locked }
    let end = lifetime.map { vault.clock.boot() + Int64($0) * 1_000_000_000 }
    let added = SessionKey(key, comment, constraints, end: end)
    remove(added.blob)
    guard keys.count < Self.most else { throw .busy("the agent has as many keys as it can hold") }
    keys.append(added)
    watch()
  }

  /// Removes the key with that public half; false if there is none.
  @discardableResult package func remove(_ blob: [UInt8]) -> Bool {
    removeAll { $0.blob == blob }
  }

  /// Removes the chosen keys; false if there is none.
  @discardableResult package func removeAll(where isChosen: (SessionKey<Constraints>) -> Bool = { _ in true }) -> Bool {
    let count = keys.count
    keys.removeAll { key in
      guard isChosen(key) else { return false }
      key.wipe()
      return true
    }
    guard keys.count < count else { return false }
    someAreGone()
    return true
  }

  /// Drops the keys whose time is over.
  private func drop() {
    guard !keys.isEmpty else { return }
    let now = vault.clock.boot()
    removeAll { $0.end.map { $0 <= now } ?? false }
  }

  /// Arms a timer that removes the next key when its time is over, even if nobody asks.
  private func watch() {
    ending?()
    ending = nil
    guard let next = keys.compactMap(\.end).min() else { return }
    ending = timer.after(max(0, next - vault.clock.boot())) { [weak self] in
      self?.drop()
      self?.watch()
    }
  }

  // MARK: Locks

  override package func letGo(for lock: Lock) {
    guard lock.isEffective else { return }
    for key in keys { key.wipe() }
    keys = []
  }

  override package func outlives(_ lock: Lock) -> Bool { lock.isEffective && !keys.isEmpty }
}
