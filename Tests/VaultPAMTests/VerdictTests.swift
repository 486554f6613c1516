import CPAM
import Testing
import VaultModel
import VaultWire

@testable import VaultPAM

@Suite("What PAM's codes mean") struct VerdictTests {
  @Test("only success is a yes") func yes() {
    for code in Int32(0)...40 {
      for step in [Verdict.Step.authenticate, .account] {
        #expect((Verdict(code: code, step: step).outcome == .succeeded) == (code == PAM_SUCCESS))
      }
    }
  }

  @Test("a wrong secret, too many of them, and an account past its time are told apart") func distinct() {
    #expect(Verdict(code: PAM_AUTH_ERR, step: .authenticate).outcome == .failed)
    #expect(Verdict(code: PAM_MAXTRIES, step: .authenticate).outcome == .tooManyTries)
    #expect(Verdict(code: PAM_ACCT_EXPIRED, step: .account).outcome == .expired("the account has expired"))
    for code in [PAM_NEW_AUTHTOK_REQD, PAM_AUTHTOK_EXPIRED, PAM_CRED_EXPIRED] {
      guard case .expired(let reason) = Verdict(code: code, step: .account).outcome else {
        Issue.record("code \(code)")
        continue
      }
      #expect(reason.contains("passwd"))
    }
    // The account's refusal says nothing about the secret.
    guard case .unavailable = Verdict(code: PAM_AUTH_ERR, step: .account).outcome else {
      Issue.record("an account's refusal was taken for a wrong secret")
      return
    }
  }
}
