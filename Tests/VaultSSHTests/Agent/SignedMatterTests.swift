import Testing

@testable import VaultSSH

@Suite("The words for what is to be signed") struct SignedMatterTests {
  /// Returns the words for the recorded login, as it comes over hosts that forward the agent and are known by name.
  ///
  /// - Parameter isBroken: true if a bind after them has failed.
  private func words(over hosts: String..., login: Bool = true, isBroken: Bool = false) throws -> String {
    let data = try RecordedConnection.data("login ed25519")
    let read = try UserAuthentication(unsafe data.span.bytes)
    var bindings = SessionBindings()
    for (number, host) in hosts.enumerated() {
      try bindings.add(
        SessionBind(
          hostKey: hostBlob(host), sessionID: [UInt8](repeating: UInt8(number), count: 32), signature: [],
          isForwarding: true))
    }
    if login, !isBroken {
      try bindings.add(
        SessionBind(hostKey: hostBlob("db"), sessionID: read.sessionID, signature: [], isForwarding: false))
    }
    if isBroken { bindings.fail() }
    let names = Dictionary((hosts + ["db"]).map { (hostBlob($0), $0) }) { $1 }
    return SignedMatter.login(read).words(by: "with `k`", over: bindings) { names[$0] ?? "nobody" }
  }

  @Test("name no other host for a login from this machine") func here() throws {
    let here = try words()
    #expect(here.hasPrefix("SSH login to db as `") && here.hasSuffix("` with `k`"))
    #expect(try words(login: false).hasPrefix("SSH login to a host that is not known as `"))
  }

  @Test("name the first host that forwards, before all that its people have chosen, and the way after it")
  func forwarded() throws {
    #expect(try words(over: "a").hasPrefix("SSH login for someone on a, to db as `"))
    #expect(try words(over: "a").hasSuffix(" with `k`"))
    let first = try words(over: "a", "b")
    #expect(first.hasPrefix("SSH login for someone on a, to db as `") && first.hasSuffix(" with `k`, by way of b"))
    #expect(try words(over: "b").hasPrefix("SSH login for someone on b, to db as `"))
  }

  @Test("differ for different ways, also for one that comes back to a host") func ways() throws {
    let all = try [
      words(over: "a"), words(over: "b"), words(over: "a", "b"), words(over: "b", "a"), words(over: "a", "b", "a"),
      words(over: "a", "a"),
    ]
    #expect(Set(all).count == all.count)
    #expect(all[4].hasSuffix(", by way of b, then a") && all[4].contains("for someone on a,"))
  }

  @Test("name four hosts of a long way, and count the rest") func long() throws {
    let words = try words(over: "a", "b", "c", "d", "e", "f")
    #expect(words.contains("for someone on a,") && words.hasSuffix(", by way of b, then c, then d, then 2 more"))
  }

  @Test("say so if the origin cannot be determined") func broken() throws {
    #expect(try words(isBroken: true).hasPrefix("SSH login for someone who may be on any host, to "))
    #expect(try words(over: "a", isBroken: true).hasPrefix("SSH login for someone on a or any other host, to "))
  }

  @Test("of a message have the same order") func message() throws {
    let data = try RecordedConnection.data("ssh-keygen -Y sign, git, sha512, ed25519")
    let message = SignedMatter.message(try SSHSignatureBlob(unsafe data.span.bytes))
    var bindings = SessionBindings()
    #expect(message.words(by: nil, over: bindings) { _ in "a" } == "SSH signature for `git`")
    try bindings.add(
      SessionBind(
        hostKey: hostBlob("a"), sessionID: [UInt8](repeating: 1, count: 32), signature: [], isForwarding: true))
    #expect(message.words(by: nil, over: bindings) { _ in "a" } == "SSH signature for someone on a, for `git`")
  }
}
