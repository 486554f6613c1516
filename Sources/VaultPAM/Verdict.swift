internal import CPAM
internal import VaultModel
internal import VaultWire

/// The outcome of a step of a PAM transaction.
struct Verdict: Error, Equatable {
  enum Step { case authenticate, account }

  let code: Int32
  let step: Step

  /// PAM's code as an outcome. Every code that means neither yes nor no becomes `unavailable`, with PAM's own text.
  var outcome: PresenceOutcome {
    switch (code, step) {
    case (PAM_SUCCESS, _): .succeeded
    case (PAM_AUTH_ERR, .authenticate), (PAM_PERM_DENIED, .authenticate), (PAM_CRED_INSUFFICIENT, .authenticate):
      .failed
    case (PAM_MAXTRIES, _): .tooManyTries
    case (PAM_ACCT_EXPIRED, _): .expired("the account has expired")
    case (PAM_NEW_AUTHTOK_REQD, _), (PAM_AUTHTOK_EXPIRED, _), (PAM_CRED_EXPIRED, _):
      .expired("the password has expired; set a new one with passwd(1)")
    case (PAM_USER_UNKNOWN, _): .unavailable("PAM does not know the user")
    case (PAM_AUTHINFO_UNAVAIL, .authenticate): .unavailable("nothing in the PAM service could check the user")
    case (_, .account): .unavailable("the account may not be used: \(text)")
    default: .unavailable("PAM: \(text)")
    }
  }

  private var text: String {
    // Linux-PAM needs no handle for this call and returns string literals.
    guard let text = unsafe pam_strerror(nil, code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
