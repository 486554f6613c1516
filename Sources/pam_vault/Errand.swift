/// The task of the child, and the secrets for it.
struct Errand: ~Copyable {
  enum Kind {
    /// Open the vault.
    case unlock
    /// Have the login slot take the new password for the old one.
    case rewrap
    /// Both, for a password that was changed on the way in.
    case rewrapAndUnlock
    /// Say that the login slot does not fit the login password any more.
    case markStale
  }

  let kind: Kind
  let old: WipedBytes
  let password: WipedBytes

  /// Nil when there is no memory.
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
