import Foundation
import Testing
import VaultBytes
import VaultWire

@testable import VaultClient

@Suite struct RetryTests {
  /// Makes a daemon that hangs up on the first `count` connections once a request has come, and answers the others.
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

  @Test("A client that finds the daemon's queue full waits in it, also if it would not wait for a daemon")
  func waitsInQueue() throws {
    let server = try FakeServer(listening: false) { peer, _ in try peer.waitForEnd() }
    defer { server.close() }
    server.queue()
    let first = try Connection(to: server.location, patience: .zero)
    var retries = 0
    let second = try Connection(to: server.location, patience: .zero, interrupt: nil) {
      retries += 1
      if retries == 1 { server.listen() }
    }
    #expect(retries >= 1)
    withExtendedLifetime((first, second)) {}
  }

  @Test("A call waits in a full queue for as long as it would wait for a silent daemon", arguments: [false, true])
  func waitsLonger(isStream: Bool) throws {
    let server = try FakeServer(listening: false) { peer, _ in
      while try peer.read() != nil { peer.reply(#"{"name":"a","version":1,"value":"v"}"#) }
    }
    defer { server.close() }
    server.queue()
    let first = try Connection(to: server.location, patience: .zero)
    var vault = server.vault
    (vault.patience, vault.silence) = (.zero, .seconds(60))
    Thread.detachNewThread { [server] in
      Thread.sleep(forTimeInterval: 1.5)
      server.listen()
    }
    if isStream {
      _ = try vault.stream(.monitor, timeout: .seconds(60), Wire.Empty())
    } else {
      _ = try vault.call(.status, again: true, Wire.Empty())
    }
    withExtendedLifetime(first) {}
  }

  @Test("A call gives up in a full queue when its time is over")
  func leavesQueue() throws {
    let server = try FakeServer(listening: false) { _, _ in }
    defer { server.close() }
    server.queue()
    let first = try Connection(to: server.location, patience: .zero)
    var vault = server.vault
    (vault.patience, vault.timeout) = (.zero, .seconds(1))
    #expect(throws: ClientError.timedOut) { _ = try vault.call(.status, again: true, Wire.Empty()) }
    withExtendedLifetime(first) {}
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

  @Test("A reading call whose connection dies before the answer is made again, three times at most")
  func repeatsReading() throws {
    for count in 1...3 {
      let server = try RetryTests.flaky(count, #"{"name":"a","version":1,"value":"v"}"#)
      defer { server.close() }
      #expect(try server.vault.get("a", as: String.self) == "v")
      #expect(server.heard == Array(repeating: "Get{name:a}", count: count + 1))
    }
    let dead = try RetryTests.flaky(9, "{}")
    defer { dead.close() }
    #expect(throws: ClientError.disconnected) { _ = try dead.vault.get("a") }
    #expect(dead.heard.count == 4)
    #expect(throws: ClientError.disconnected) { _ = try dead.vault.find("a") }
    #expect(dead.heard.count == 8)
  }

  /// A named call that changes something.
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
    // Only a call that has no further effect the second time may be repeated.
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

  @Test("A call that only reads is made again when its answer had begun")
  func repeatsHalfAnswers() throws {
    let server = try FakeServer { peer, number in
      guard let call = try peer.read() else { return }
      if number % 2 == 0 { return peer.send(Array("{".utf8)) }
      peer.reply(call.hasPrefix("Get") ? #"{"name":"a","version":1,"value":"v"}"# : #"{"items":[],"grants":[]}"#)
      try peer.waitForEnd()
    }
    defer { server.close() }
    #expect(try server.vault.get("a", as: String.self) == "v")
    #expect(server.heard == ["Get{name:a}", "Get{name:a}"])
  }

  @Test("A search whose pages stop in the middle is begun anew, and none of them is there twice")
  func repeatsPages() throws {
    let server = try FakeServer { peer, number in
      _ = try peer.read()
      peer.reply("{\"items\":[\(StreamTests.item("a"))]}", continues: true)
      if number == 0 { return }
      peer.reply("{\"items\":[\(StreamTests.item("b"))]}")
      try peer.waitForEnd()
    }
    defer { server.close() }
    #expect(try server.vault.find("x").map(\.name) == ["a", "b"])
    #expect(server.heard.count == 2)
  }

  @Test("What was handed over page by page is not begun anew, and neither is a conversation")
  func doesNotRepeatHalfStreams() throws {
    let server = try FakeServer { peer, _ in
      guard try peer.read()?.hasPrefix("Find") == true else { return peer.send(Array("{".utf8)) }
      peer.reply("{\"items\":[\(StreamTests.item("a"))]}", continues: true)
    }
    defer { server.close() }
    #expect(throws: ClientError.disconnected) { try server.vault.find("x") { _ in true } }
    #expect(throws: ClientError.disconnected) { try server.vault.unlock { _ in nil } }
    #expect(server.heard.count == 2)
  }

  @Test("A call that changes something is made again when the daemon went away without reading all of it")
  func repeatsUnreadWriting() throws {
    let server = try FakeServer { peer, number in
      // The first daemon is gone before the call comes, or leaves it unread; the second reads a part of it.
      if number == 0 { return }
      if number == 1 { return peer.readPart() }
      _ = try peer.read()
      peer.reply(#"{"version":1}"#)
      try peer.waitForEnd()
    }
    defer { server.close() }
    var large = SecretBuffer()
    large.append(utf8: String(repeating: "v", count: 1 << 20))
    #expect(try server.vault.set(Wire.NewItem(name: "a"), value: large).version == 1)
    #expect(server.connections == 3 && server.heard.count == 1)
  }

  @Test("An answer that comes too late is not taken for that of the next call")
  func dropsLateAnswers() throws {
    let server = try FakeServer { peer, number in
      guard try peer.read() != nil else { return }
      // The first connection gets its answer just when the next call would be sent on it.
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
