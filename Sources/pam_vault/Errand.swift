/// The task of the worker process, and the secrets for it.
struct Errand: ~Copyable {
  enum Kind {
    /// Opens the vault.
    case unlock
    /// Changes the login slot from the old password to the new one.
    case rewrap
    /// Changes the login slot and opens the vault, for a password that was changed during the login.
    case rewrapAndUnlock
    /// Records that the login password does not open the login slot any more.
    case markStale
  }

  let kind: Kind
  let old: WipedBytes
  let password: WipedBytes

  /// Makes an errand; nil when there is no memory.
  init?(_ kind: Kind, old: consuming WipedBytes?, password: consuming WipedBytes) {
    self.kind = kind
    self.password = password
    switch consume old {
    case .some(let old): self.old = old
    case .none:
      guard let none = WipedBytes() else { return nil }
      self.old = none
    }
  }
}
