import Glibc
import NIOCore
import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("What moves the idle deadline") struct IdleDeadlineTests {
  /// Every call that takes `interactive`, with its other parameters.
  private static let persons: [(method: String, parameters: String)] = [
    ("Get", #""name":"a""#), ("Show", #""name":"a""#), ("Find", #""query":"name=a""#), ("History", #""name":"a""#),
    ("Set", #""name":"b","value":"v""#), ("SetMany", #""items":[{"name":"c","value":"v"}]"#),
    ("Move", #""from":"b","to":"d""#), ("Delete", #""names":["c"]"#), ("Authenticate", #""name":"a""#), ("Unlock", ""),
    // Refused calls count as calls, too.
    ("Get", #""name":"nothing""#), ("Code", #""name":"a""#), ("Copy", #""from":"a","to":"a""#),
    ("Set", #""name":"a","value":"v""#),
  ]
  /// The calls that do not take `interactive`.
  private static let others = ["Status", "ListSlots", "Verify", "Monitor"]

  private func stand(pid: pid_t = getpid()) throws -> ConnectionStand {
    try ConnectionStand.unlocked("idle = 5m\nmaximum-age = off", pid: pid)
  }

  /// Returns the number of seconds by which a call, ten seconds after the previous one, moves the deadline.
  private func moved(_ stand: ConnectionStand, _ method: String, _ parameters: String) throws -> Int64? {
    let call: @Sendable (ConnectionStand.Inside) -> Int64? = { client in
      guard let before = client.vault.policy.next?.at else { return nil }
      client.pass(.seconds(10))
      client.call(method, "{\(parameters)}", more: ["Unlock", "Authenticate", "Monitor", "Verify"].contains(method))
      return client.vault.policy.next.map { ($0.at - before) / 1_000_000_000 }
    }
    let result = try stand.on(call)
    // The call may have been postponed to a later turn.
    try stand.goRound("the call to be handled") { !$0.hasWork }
    return result
  }

  private func deadline(_ stand: ConnectionStand) throws -> Int64 { try stand.on { $0.vault.policy.next?.at ?? 0 } }

  @Test("no request of a user who may do nothing here: the vault would stay open for as long as that one likes")
  func strangers() throws {
    let stand = try ConnectionStand.unlocked("idle = 5m\nmaximum-age = off", uid: 65534)
    defer { stand.close() }
    for (method, parameters) in Self.persons {
      #expect(
        try moved(stand, method, parameters + (parameters.isEmpty ? "" : ",") + #""interactive":true"#) == 0,
        "\(method)")
    }
  }

  @Test("a person's request, which says so, and no other") func requests() throws {
    for flag in ["", #""interactive":false"#, #""interactive":true"#] {
      let stand = try stand()
      defer { stand.close() }
      for (method, parameters) in Self.persons {
        let all = [parameters, flag].filter { !$0.isEmpty }.joined(separator: ",")
        let before = try deadline(stand)
        _ = try moved(stand, method, all)
        let after = try deadline(stand)
        let isPerson = flag.hasSuffix("true")
        #expect(after - before == (isPerson ? 10_000_000_000 : 0), "\(method) \(all)")
        // Move an unmoved deadline forward as well, for the next call.
        if !isPerson { try stand.on { $0.vault.policy.personAsked(at: $0.now) } }
      }
    }
    for method in Self.others {
      let stand = try stand()
      defer { stand.close() }
      let before = try deadline(stand)
      _ = try moved(stand, method, "")
      #expect(try deadline(stand) == before, "\(method)")
    }
  }

  @Test("not a system service's, whatever it says") func systemService() throws {
    // A process that cannot be seen counts as a system service.
    let stand = try stand(pid: 0)
    defer { stand.close() }
    let moved = try stand.on { client in
      let before = client.vault.policy.next
      client.pass(.seconds(10))
      client.vault.asks(client.connection.caller, Said(isInteractive: true))
      return client.vault.policy.next != before
    }
    #expect(!moved)
  }
}
