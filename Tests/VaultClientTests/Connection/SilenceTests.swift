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

  @Test("a silent daemon is told of until the call ends") func told() throws {
    let server = try FakeServer { peer, _ in try peer.waitForEnd() }
    defer { server.close() }
    var vault = server.vault
    vault.silence = .seconds(1)
    var told: [Bool] = []
    vault.whenSilent = { told.append($0) }
    #expect(throws: ClientError.timedOut) { _ = try vault.find() }
    #expect(told == [true, false])
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
    // Long enough for the threads of a busy machine to answer within half of it.
    vault.silence = .seconds(2)
    #expect(try vault.get("a", as: String.self, wait: .seconds(600)) == "late")
    #expect(server.heard.filter { $0.hasPrefix("GetInfo") }.count == 3)
  }

  @Test("so do a call that changes something, and one that has another time limit or none")
  func others() throws {
    let server = try FakeServer { peer, _ in try peer.waitForEnd() }
    defer { server.close() }
    var vault = server.vault
    (vault.silence, vault.timeout, vault.keyTimeout) = (.milliseconds(200), nil, nil)
    #expect(throws: ClientError.timedOut) { try vault.move("a", to: "b") }
    #expect(throws: ClientError.timedOut) { try vault.unlock { _ in nil } }
    #expect(throws: ClientError.timedOut) { try vault.attend(faces: []) { _ in true } }
    #expect(throws: ClientError.timedOut) { try vault.backup { _ in } }
    // A call that changes something is not repeated.
    #expect(server.heard.filter { $0.hasPrefix("Move") }.count == 1)
  }

  @Test("a conversation gives up a daemon that stops in the middle of it, and not one that waits for a person")
  func conversation() throws {
    let asked = Gate()
    let prompt = #"{"conversation":"c","prompt":{"style":"info","method":"pam","text":"Touch the reader"}}"#
    let server = try FakeServer { peer, number in
      guard number == 0 else {
        // A daemon that waits for a person still answers other connections, until it is stopped.
        if number == 3 { asked.open() }
        if number < 4, try peer.read() != nil { peer.reply() }
        try peer.waitForEnd()
        return
      }
      _ = try peer.read()
      peer.reply(prompt, continues: true)
      asked.wait()
      peer.reply(prompt, continues: true)
      try peer.waitForEnd()
    }
    defer { server.close() }
    var vault = server.vault
    (vault.silence, vault.keyTimeout) = (.seconds(2), nil)
    var shown = 0
    #expect(throws: ClientError.timedOut) {
      try vault.unlock { _ in
        shown += 1
        return nil
      }
    }
    #expect(shown == 2)
  }
}
