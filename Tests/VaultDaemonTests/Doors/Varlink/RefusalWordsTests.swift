import Testing
import VaultModel
import VaultWire

@testable import VaultDaemon
@testable import VaultService

@Suite("The words of refusals") struct RefusalWordsTests {
  @Test("are the reason of a denial where the call waits, or waited, for an approval") func approvals() {
    #expect(
      Fault(Refusal.unapproved(QuestionNumber(6)))
        == .denied(reason: "an administrator was asked, and has not approved this yet", request: 6))
    #expect(
      Refusal.approvalLost(QuestionNumber(7)).reason
        == "another call has used the approval, and nobody has answered the request that followed")
    #expect(
      Refusal.approvalLost(nil).reason == "another call has used the approval, and nobody can be asked again now")
    #expect(
      Fault(Refusal.approvalLost(QuestionNumber(7)))
        == .denied(reason: Refusal.approvalLost(QuestionNumber(7)).reason, request: 7))
    #expect(Fault(Refusal.approvalLost(nil)) == .denied(reason: Refusal.approvalLost(nil).reason, request: nil))
  }

  @Test("for a log name no item")
  func names() {
    let name = "bank/pin"
    let refusals: [Refusal] = [
      .noSuchItem(name, isVerified: false), .noSuchVersion(name, 2), .alreadyExists(name), .expired(name, 5),
      .invalidName(name, reason: "r"), .wrongKind(name, kind: .note), .wrongUse(name, use: .ssh), .neverRead(name),
      .notOnTheseTerms(name, reason: "r"), .presenceRequired(name, .biometry),
    ]
    for refusal in refusals { #expect(!refusal.reason.contains(name), "\(refusal)") }
  }

  @Test("tell by a fact, and not by themselves, that only another item would help")
  func anotherItem() {
    let refusal = Refusal.needsAnotherItem(kind: "blob", reason: "r")
    #expect(Fault(refusal, failed: 2) == .invalidValue(kind: "blob", reason: "r", failed: 2, anotherItem: true))
    #expect(Fault(Refusal.invalidValue(kind: "blob", reason: "r")) == .invalidValue(kind: "blob", reason: "r"))
    #expect(refusal.reason == "r")
  }
}
