import CPAM

/// The result of the worker process. The raw value goes over the pipe to its parent.
enum Outcome: UInt8 {
  /// The vault is open, or the slot has the new password.
  case done = 1
  /// Nothing was tried, because there is no vault, no daemon for it, or no login slot.
  case nothing
  /// The slot does not open with this password, and is now marked as stale.
  case refused
  /// The process that listens on the socket is not the user's daemon; nothing was sent to it.
  case foreign
  /// The daemon hung up, sent an answer that was not understood, or did not answer in time.
  case broken
  /// The worker process goes on by itself.
  case unfinished

  /// Logs the outcomes that the user may need to know about.
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
    "the program that listens on the vault's socket is not the user's daemon; nothing was sent to it"
  private static let failure: StaticString = "vaultd did not answer as expected"
}
