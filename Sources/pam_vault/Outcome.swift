import CPAM

/// The outcome of the child. The numbers go over the pipe to its parent.
enum Outcome: UInt8 {
  /// The vault is open, or the slot has the new password.
  case done = 1
  /// There is no vault, no daemon for it, or no login slot: nothing was tried.
  case nothing
  /// The slot does not open with this password. It is marked so.
  case refused
  /// Whoever listens there is not the user's daemon; nothing was said to it.
  case foreign
  /// The daemon hung up, was not understood, or did not answer in time.
  case broken
  /// The child goes on by itself.
  case unfinished

  /// Says what the user may have to know about.
  func log(_ pamh: OpaquePointer) {
    switch self {
    case .done, .nothing, .unfinished: break
    case .refused:
      unsafe vault_pam_log(pamh, LOG_NOTICE, Self.refusal.cString)
    case .foreign:
      unsafe vault_pam_log(pamh, LOG_WARNING, Self.warning.cString)
    case .broken:
      unsafe vault_pam_log(pamh, LOG_NOTICE, Self.failure.cString)
    }
  }

  private static let refusal: StaticString =
    "the login password does not open the vault's login slot; `vault passwd --login` puts that right"
  private static let warning: StaticString =
    "what listens on the vault's socket is not the user's daemon; nothing was said to it"
  private static let failure: StaticString = "vaultd did not answer as it should"
}
