import Testing
import VaultWire

@testable import VaultClient

@Suite("A daemon that does not answer") struct SilenceTests {
  @Test("a call that waits for a person gives up a daemon without a sign of life") func dead() throws {
    let server = try FakeServer { peer, _ in try peer.waitForEnd() }
    defer { server.close() }
    var vault = server.vault
    vault.silence = .milliseconds(200)
    let began = ContinuousClock.now
    #expect(throws: ClientError.timedOut) { _ = try vault.get("a", wait: .seconds(600)) }
    #expect(throws: ClientError.timedOut) { _ = try vault.find() }
    #expect(ContinuousClock.now - began < .seconds(20))
    #expect(server.heard.contains("GetInfo{}"))
  }

  @Test("it waits on while the daemon answers others, whatever that answers", arguments: [true, false])
  func alive(refused: Bool) throws {
    let asked = Gate()
    let server = try FakeServer { peer, number in
      guard number == 0 else {
        while let request = try peer.read() {
          if request.hasPrefix("GetInfo"), number == 3 { asked.open() }
          if refused { peer.send(#"{"error":"org.varlink.service.MethodNotFound"}"#) } else { peer.reply() }
        }
        return
      }
      _ = try peer.read()
      asked.wait()
      peer.reply(#"{"name":"a","version":1,"value":"late"}"#)
      try peer.waitForEnd()
    }
    defer { server.close() }
    var vault = server.vault
    // So long that the threads of a busy machine answer within a half of it.
    vault.silence = .seconds(2)
    #expect(try vault.get("a", as: String.self, wait: .seconds(600)) == "late")
    #expect(server.heard.filter { $0.hasPrefix("GetInfo") }.count == 3)
  }

  @Test("a call that changes something has its whole time: nobody would know whether it was done")
  func changes() throws {
    let server = try FakeServer { peer, _ in try peer.waitForEnd() }
    defer { server.close() }
    var vault = server.vault
    (vault.silence, vault.timeout) = (.milliseconds(20), .milliseconds(300))
    #expect(throws: ClientError.timedOut) { try vault.move("a", to: "b") }
    #expect(!server.heard.contains("GetInfo{}"))
  }
}
