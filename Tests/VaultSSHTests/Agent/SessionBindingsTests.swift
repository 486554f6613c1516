import Testing

@testable import VaultSSH

@Suite("The sessions that a connection to an agent came through") struct SessionBindingsTests {
  private func bind(_ host: String, session: UInt8, forwarding: Bool) -> SessionBind {
    SessionBind(
      hostKey: hostBlob(host), sessionID: [UInt8](repeating: session, count: 32), signature: [],
      isForwarding: forwarding)
  }

  private func isRefused(_ bind: SessionBind, by bindings: inout SessionBindings) -> Bool {
    let before = bindings.hops
    do {
      try bindings.add(bind)
      return false
    } catch {
      #expect(bindings.hops == before)
      return true
    }
  }

  @Test("are kept in order, and tell whether the agent was forwarded") func order() throws {
    var bindings = SessionBindings()
    #expect(!bindings.isForwarded && !bindings.isBroken)
    try bindings.add(bind("a", session: 1, forwarding: true))
    #expect(bindings.isForwarded && !bindings.isBroken)
    try bindings.add(bind("b", session: 2, forwarding: false))
    #expect(bindings.isForwarded && bindings.hops.map(\.hostKey) == [hostBlob("a"), hostBlob("b")])
    var local = SessionBindings()
    try local.add(bind("b", session: 2, forwarding: false))
    #expect(!local.isForwarded)
  }

  @Test("say for whom a request may be, if it may come from another host") func relay() throws {
    let name = { (key: [UInt8]) in key == hostBlob("a") ? "a" : "b" }
    var bindings = SessionBindings()
    #expect(bindings.relay(name) == nil)
    try bindings.add(bind("a", session: 1, forwarding: true))
    #expect(bindings.relay(name) == "for someone on a")
    bindings.fail()
    #expect(bindings.relay(name) == "for someone on a or any other host")
    var local = SessionBindings()
    try local.add(bind("b", session: 2, forwarding: false))
    #expect(local.relay(name) == nil)
    local.fail()
    #expect(local.relay(name) == "for someone who may be on any host")
  }

  @Test("are each there once; with another host key a session is refused") func twice() throws {
    var bindings = SessionBindings()
    try bindings.add(bind("a", session: 1, forwarding: true))
    // Even the forwarding stays: logging in through the same session would need another bind.
    try bindings.add(bind("a", session: 1, forwarding: false))
    #expect(bindings.hops.count == 1 && bindings.hops[0].isForwarding)
    #expect(isRefused(bind("b", session: 1, forwarding: true), by: &bindings))
    // A second session with the same host is another connection to it.
    try bindings.add(bind("a", session: 2, forwarding: true))
    #expect(bindings.hops.count == 2)
  }

  @Test("end with one that logs in: nothing is bound after it, but what was before it") func late() throws {
    var bindings = SessionBindings()
    try bindings.add(bind("a", session: 1, forwarding: true))
    try bindings.add(bind("b", session: 2, forwarding: false))
    #expect(isRefused(bind("c", session: 3, forwarding: false), by: &bindings))
    #expect(isRefused(bind("c", session: 3, forwarding: true), by: &bindings))
    #expect(isRefused(bind("b", session: 2, forwarding: false), by: &bindings))
    #expect(!isRefused(bind("a", session: 1, forwarding: true), by: &bindings))
  }

  @Test("are sixteen at most") func many() throws {
    var bindings = SessionBindings()
    for session in 0..<16 { try bindings.add(bind("a", session: UInt8(session), forwarding: true)) }
    #expect(!isRefused(bind("a", session: 15, forwarding: true), by: &bindings) && !bindings.isBroken)
    #expect(isRefused(bind("a", session: 16, forwarding: true), by: &bindings) && bindings.isBroken)
  }

  @Test("a failed bind is remembered: it may have been one that forwards, and nothing is bound after it") func failed()
    throws
  {
    var bindings = SessionBindings()
    bindings.fail()
    #expect(bindings.isBroken && bindings.hops.isEmpty && bindings.isForwarded)
    #expect(isRefused(bind("a", session: 1, forwarding: false), by: &bindings) && bindings.hops.isEmpty)
    var later = SessionBindings()
    try later.add(bind("a", session: 1, forwarding: true))
    later.fail()
    #expect(isRefused(bind("b", session: 2, forwarding: false), by: &later) && later.hops.count == 1)
  }
}
