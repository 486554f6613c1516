internal import CPAM
internal import Glibc
internal import VaultWire

/// One PAM transaction, from pam_start(3) to pam_end(3).
@safe struct PAMTransaction: ~Copyable {
  private let handle: OpaquePointer
  private var status = PAM_SUCCESS

  /// Begins the transaction. `conversation` must outlive it.
  ///
  /// - Throws: PAM's code, as a ``Verdict``.
  init(service: String, user: String, conversation: PAMConversation) throws(Verdict) {
    // pam_start(3) copies the structure.
    var conv = unsafe pam_conv(
      conv: PAMConversation.relay, appdata_ptr: Unmanaged.passUnretained(conversation).toOpaque())
    var handle: OpaquePointer?
    let code = unsafe pam_start(service, user, &conv, &handle)
    guard code == PAM_SUCCESS, let handle = unsafe handle else { throw Verdict(code: code, step: .authenticate) }
    unsafe self.handle = handle
  }

  /// Ends the transaction: the modules wipe and free the secrets that they keep.
  deinit { unsafe pam_end(handle, status) }

  /// Tells the modules who asks, and on which terminal. The modules must not depend on these facts, so a failure here
  /// does not matter.
  func describe(requester: String?, terminal: String) {
    if let requester { unsafe pam_set_item(handle, PAM_RUSER, requester) }
    unsafe pam_set_item(handle, PAM_TTY, terminal)
  }

  /// Authenticates the user and checks that the account may be used. An account without a password does not pass.
  mutating func run() -> Verdict {
    let flags = Int32(bitPattern: PAM_DISALLOW_NULL_AUTHTOK)
    unsafe status = pam_authenticate(handle, flags)
    guard status == PAM_SUCCESS else { return Verdict(code: status, step: .authenticate) }
    unsafe status = pam_acct_mgmt(handle, flags)
    return Verdict(code: status, step: .account)
  }

  /// The user's name at the end of the transaction, which a module may have changed.
  var user: String? {
    var item: UnsafeRawPointer?
    guard unsafe pam_get_item(handle, PAM_USER, &item) == PAM_SUCCESS, let item = unsafe item else { return nil }
    // This item is a string; the library keeps it until `pam_end`.
    return unsafe String(cString: item.assumingMemoryBound(to: CChar.self))
  }
}
