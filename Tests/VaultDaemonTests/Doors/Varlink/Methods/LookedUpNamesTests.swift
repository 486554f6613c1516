import NIOCore
import Testing
import VaultModel

@testable import VaultDaemon
@testable import VaultService

@Suite("Names of users and groups in a call") struct LookedUpNamesTests {
  /// Calls with a name that no user has, and the error if the name is looked up.
  private static let calls = [
    ("Can", #"{"subject":"user:no-such-user","right":"get","name":"a"}"#, "InvalidGrant"),
    ("Grants", #"{"subject":"user:no-such-user"}"#, "InvalidGrant"),
    ("Audit", #"{"subject":"group:no-such-group"}"#, "InvalidGrant"),
  ]
  private static let search = #"{"query":"creator=user:no-such-user"}"#

  /// Returns the only message that each call gets, and the last one of the search, from a user with or without a grant.
  private static func answers(hasGrant: Bool) throws -> [String] {
    let stand = try ConnectionStand.unlocked("idle = off", uid: 4242)
    defer { stand.close() }
    if hasGrant {
      try stand.on { client in
        try client.give("find", to: 4242, on: "own/**")
      }
    }
    var answers: [String] = []
    for (method, parameters, _) in calls + [("Find", search, "")] {
      try stand.on { client in
        client.pass(.seconds(1))
        client.call(method, parameters, more: method != "Can" && method != "Find")
      }
      try stand.goRound("the answer to \(method)") { !$0.hasWork && $0.connection.current.onCancel == nil }
      answers.append(try stand.on { $0.messages() }.joined())
    }
    return answers
  }

  @Test("are looked up for a caller with a grant") func known() throws {
    let answers = try Self.answers(hasGrant: true)
    for (answer, call) in zip(answers, Self.calls) { #expect(answer.contains(call.2), "\(answers)") }
    #expect(answers.last?.contains("there is no user") == true, "\(answers)")
  }

  @Test("are not looked up for a caller who has no right to anything") func unknown() throws {
    let answers = try Self.answers(hasGrant: false)
    for answer in answers.dropLast() {
      #expect(answer.contains("io.vaultd.Vault.Denied") && answer.contains("looked up only for callers"), "\(answers)")
    }
    #expect(answers.last == #"{"parameters":{"items":[]}}"#, "\(answers)")
  }
}
