import Foundation
import Testing
import VaultWire

@testable import VaultClient

@Suite struct RetryTests {
  /// A daemon that hangs up on the first `count` connections once a request came, and answers the others.
  static func flaky(_ count: Int, _ parameters: String) throws -> FakeServer {
    try FakeServer { peer, number in
      guard try peer.read() != nil, number >= count else { return }
      peer.reply(parameters)
      while try peer.read() != nil { peer.reply(parameters) }
    }
  }

  @Test("A client that finds nobody listening tries again until somebody does")
  func waitsForListener() throws {
    let server = try FakeServer(listening: false) { peer, _ in
      while try peer.read() != nil { peer.reply(#"{"name":"a","version":1,"value":"v"}"#) }
    }
    defer { server.close() }
    #expect(throws: ClientError.noDaemon(server.path)) { _ = try server.vault.status() }
    var retries = 0
    let connection = try Connection(to: server.location, patience: .seconds(60), interrupt: nil) {
      retries += 1
      if retries == 3 { server.listen() }
    }
    #expect(retries >= 3)
    withExtendedLifetime(connection) {}
  }

  @Test("A client that finds no socket tries again until there is one")
  func waitsForSocket() throws {
    let server = try FakeServer { peer, _ in try peer.waitForEnd() }
    defer { server.close() }
    let (from, to) = (server.path, server.directory + "/later")
    var retries = 0
    _ = try Connection(to: SocketLocation(path: to, trust: .runtimeDirectory), patience: .seconds(60), interrupt: nil) {
      retries += 1
      if retries == 2 { try? FileManager.default.moveItem(atPath: from, toPath: to) }
    }
    #expect(retries >= 2)
  }

  @Test("A danger that appears while it waits is not waited out")
  func stopsOnDanger() throws {
    let server = try FakeServer(listening: false) { _, _ in }
    defer { server.close() }
    let error = clientError {
      _ = try Connection(to: server.location, patience: .seconds(60), interrupt: nil) {
        setMode(0o755, of: server.directory)
      }
    }
    #expect(isUnsafe(error))
  }

  @Test("A reading call whose connection dies before the answer is made again, once")
  func repeatsReading() throws {
    let server = try RetryTests.flaky(1, #"{"name":"a","version":1,"value":"v"}"#)
    defer { server.close() }
    #expect(try server.vault.get("a", as: String.self) == "v")
    #expect(server.heard == ["Get{name:a}", "Get{name:a}"])
    let dead = try RetryTests.flaky(9, "{}")
    defer { dead.close() }
    #expect(throws: ClientError.disconnected) { _ = try dead.vault.get("a") }
    #expect(dead.heard.count == 2)
  }

  /// A call that changes something, by its name.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable (Vault) throws -> Void

    init(_ name: String, _ make: @escaping @Sendable (Vault) throws -> Void) {
      (testDescription, self.make) = (name, make)
    }

    static let all = [
      Change("Set with a value") { try $0.set(Wire.NewItem(name: "a"), value: SecretBuffer("v")) },
      Change("Set without one") { try $0.set(Wire.NewItem(name: "a")) },
      Change("SetMany") { vault in
        var batch = Batch()
        batch.add(Wire.NewItem(name: "a"), value: SecretBuffer("v"))
        _ = try vault.setMany(batch)
      },
      Change("Delete") { try $0.delete(["a"]) }, Change("Move") { try $0.move("a", to: "b") },
      Change("Lock") { try $0.lock() },
    ]
  }

  @Test("A call that changes something is not made again", arguments: Change.all)
  func doesNotRepeatWriting(change: Change) throws {
    let server = try RetryTests.flaky(1, "{}")
    defer { server.close() }
    let error = clientError { try change.make(server.vault) }
    // Only a call that does no more the second time than the first may be made again.
    if change.testDescription == "Lock" { return #expect(error == nil && server.heard.count == 2) }
    #expect(error == .disconnected)
    #expect(server.heard.count == 1 && server.connections == 1)
  }

  @Test("The connection after one that died serves the next call")
  func goesOnAfterWriting() throws {
    let server = try RetryTests.flaky(1, #"{"version":1}"#)
    defer { server.close() }
    let vault = server.vault
    #expect(throws: ClientError.disconnected) { _ = try vault.set(Wire.NewItem(name: "a")) }
    #expect(try vault.set(Wire.NewItem(name: "b")).version == 1)
    #expect(server.heard.count == 2)
  }

  @Test("A call whose answer began is not made again")
  func doesNotRepeatHalfAnswers() throws {
    let server = try FakeServer { peer, _ in
      _ = try peer.read()
      peer.send(Array("{".utf8))
    }
    defer { server.close() }
    #expect(throws: ClientError.disconnected) { _ = try server.vault.get("a") }
    #expect(server.heard.count == 1)
    #expect(throws: ClientError.disconnected) { _ = try server.vault.find("a") }
    #expect(throws: ClientError.disconnected) { try server.vault.unlock { _ in nil } }
    #expect(server.heard.count == 3)
  }

  @Test("An answer that comes too late is not taken for that of the next call")
  func dropsLateAnswers() throws {
    let server = try FakeServer { peer, number in
      guard try peer.read() != nil else { return }
      // The first connection gets its answer when the next call would be on it.
      if number == 0, try peer.read() == nil { return }
      peer.reply(#"{"name":"a","version":1,"value":"\#(number)"}"#)
      try peer.waitForEnd()
    }
    defer { server.close() }
    var vault = server.vault
    vault.timeout = .milliseconds(20)
    #expect(throws: ClientError.timedOut) { _ = try vault.get("a") }
    vault.timeout = .seconds(60)
    #expect(try vault.get("b", as: String.self) == "1")
    #expect(server.connections == 2)
  }

  @Test("A daemon that restarts between two calls does not show, even to a call that changes something")
  func reconnects() throws {
    let gone = Gate()
    let server = try FakeServer { peer, number in
      _ = try peer.read()
      peer.reply(#"{"version":\#(number)}"#)
      if number == 0 {
        peer.hangUp()
        gone.open()
      }
      try peer.waitForEnd()
    }
    defer { server.close() }
    let vault = server.vault
    #expect(try vault.set(Wire.NewItem(name: "a")).version == 0)
    gone.wait()
    #expect(try vault.set(Wire.NewItem(name: "b")).version == 1)
    #expect(server.heard.count == 2)
  }

  @Test("A daemon that hangs up without reading raises no signal")
  func survivesHangUp() throws {
    let server = try FakeServer { _, _ in }
    defer { server.close() }
    var large = SecretBuffer()
    large.append(count: 1 << 20) { _ in }
    for _ in 0..<20 {
      let error = clientError { _ = try server.vault.set(Wire.NewItem(name: "a"), value: large) }
      #expect(error == .disconnected)
    }
  }
}
