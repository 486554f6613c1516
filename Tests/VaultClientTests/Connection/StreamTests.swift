import Foundation
import Testing
import VaultWire

@testable import VaultClient

@Suite struct StreamTests {
  static func item(_ name: String) -> String {
    #"{"name":"\#(name)","kind":"note","attributes":{},"accessible":"always","require":"none","reuse":60,"#
      + #""version":1,"created":1,"modified":1,"size":0}"#
  }

  @Test("Pages are put together in their order")
  func findsAll() throws {
    let server = try FakeServer { peer, _ in
      guard try peer.read() != nil else { return }
      peer.reply("{\"items\":[\(StreamTests.item("a")),\(StreamTests.item("b"))],\"next\":\"2\"}", continues: true)
      peer.reply("{\"items\":[]}", continues: true)
      peer.reply("{\"items\":[\(StreamTests.item("c"))]}")
      try peer.waitForEnd()
    }
    defer { server.close() }
    #expect(try server.vault.find("kind=note", limit: 5).map(\.name) == ["a", "b", "c"])
    #expect(server.heard == ["Find+{query:kind=note,limit:5}"])
    var pages = 0
    try server.vault.find(nil) { items in
      pages += items.isEmpty ? 0 : 1
      return false
    }
    #expect(pages == 1)
  }

  /// Makes a daemon that sends ten times as many replies as fit into `bytes`. Then it ends, so that a client that takes
  /// them all does not hang.
  private static func flood(_ reply: String, bytes: Int) throws -> FakeServer {
    try FakeServer { peer, _ in
      guard try peer.read() != nil else { return }
      for _ in 0..<(10 * bytes / reply.utf8.count) where !peer.isGone { peer.reply(reply, continues: true) }
    }
  }

  @Test("Items, findings and losses of more bytes than an answer may have are an error, and not kept")
  func isBounded() throws {
    let limit = 10_000
    let finding = #"{"kind":"damaged","text":"t"}"#
    for reply in ["{\"items\":[\(Self.item("a"))]}", "{\"findings\":[\(finding)]}", "{\"losses\":[\(finding)]}"] {
      let server = try Self.flood(reply, bytes: limit)
      defer { server.close() }
      var vault = server.vault
      vault.longestListing = limit
      vault.longestReport = limit
      var kept = 0
      let error = clientError {
        switch reply.prefix(6) {
        case "{\"item": kept = try vault.find().count
        case "{\"find": _ = try vault.verify { kept += $0.findings.count }
        default: _ = try vault.salvage { kept += $0.losses.count }
        }
      }
      #expect(error == .answerTooLarge(limit: limit) && kept < limit / finding.utf8.count)
    }
  }

  @Test("An error in the middle of a stream is an error")
  func stopsAtError() throws {
    let server = try FakeServer { peer, _ in
      _ = try peer.read()
      peer.reply("{\"items\":[\(StreamTests.item("a"))]}", continues: true)
      peer.send(#"{"error":"io.vaultd.Vault.Locked","parameters":{"state":"locked","cause":"idle"}}"#)
    }
    defer { server.close() }
    #expect(throws: ClientError.fault(.locked(state: "locked", cause: "idle"))) { _ = try server.vault.find() }
  }

  @Test("A stream cut off is an error, not a short answer")
  func stopsAtEnd() throws {
    let server = try FakeServer { peer, _ in
      _ = try peer.read()
      peer.reply("{\"items\":[\(StreamTests.item("a"))]}", continues: true)
    }
    defer { server.close() }
    #expect(throws: ClientError.disconnected) { _ = try server.vault.find() }
  }

  @Test("Events come as they happen, until the caller has enough; then the daemon sees the end")
  func monitors() throws {
    let seenEnd = Gate()
    let server = try FakeServer { peer, _ in
      guard try peer.read() != nil else { return }
      peer.reply(#"{"event":"state","time":1,"state":"locked","cause":"idle"}"#, continues: true)
      peer.reply(#"{"event":"item","time":2,"name":"a","change":"moved","to":"b"}"#, continues: true)
      try peer.waitForEnd()
      seenEnd.open()
    }
    defer { server.close() }
    var events: [Vault.Event] = []
    try server.vault.monitor { event in
      events.append(event)
      return events.count < 2
    }
    seenEnd.wait()
    #expect(events.map(\.event) == ["state", "item"])
    #expect(events[1].to == "b")
  }

  @Test("The async stream goes on after a restart of the daemon, and ends when it is dropped")
  func streamsAcrossRestarts() async throws {
    let seenEnd = Gate()
    let server = try FakeServer { peer, number in
      guard try peer.read() != nil else { return }
      peer.reply(#"{"event":"state","time":\#(number),"state":"locked","cause":"c"}"#, continues: true)
      // The first daemon goes away at once.
      if number == 0 { return }
      try peer.waitForEnd()
      seenEnd.open()
    }
    defer { server.close() }
    var times: [Int64] = []
    for try await event in server.vault.events() {
      times.append(event.time)
      if times.count == 2 { break }
    }
    #expect(times == [0, 1])
    seenEnd.wait()
  }

  @Test("The async stream begins when a daemon knows what the caller may watch, which it may not before an unlock")
  func streamsFromTheUnlock() async throws {
    let server = try FakeServer { peer, number in
      guard try peer.read() != nil else { return }
      if number == 0 {
        peer.send(#"{"error":"io.vaultd.Vault.Locked","parameters":{"state":"cold","cause":"the daemon started"}}"#)
      } else {
        peer.reply(#"{"event":"state","time":1,"state":"unlocked","cause":"by password"}"#, continues: true)
      }
      try peer.waitForEnd()
    }
    defer { server.close() }
    var events = server.vault.events(patience: .zero).makeAsyncIterator()
    #expect(try await events.next()?.state == "unlocked")
    #expect(server.connections == 2)
  }

  @Test("However long a daemon was there, the time without one begins when it goes")
  func patienceBegins() async throws {
    let patience = Duration.seconds(1)
    let server = try FakeServer { peer, number in
      guard try peer.read() != nil else { return }
      let begin = ContinuousClock.now
      peer.reply(#"{"event":"state","time":\#(number),"state":"locked","cause":"c"}"#, continues: true)
      if number > 0 { return try peer.waitForEnd() }
      // The first daemon stays longer than the client's patience.
      while ContinuousClock.now - begin <= patience { usleep(10_000) }
    }
    defer { server.close() }
    var events = server.vault.events(patience: patience).makeAsyncIterator()
    #expect(try await events.next()?.time == 0)
    #expect(try await events.next()?.time == 1)
  }

  @Test("It ends with an error when no daemon comes back")
  func endsWithoutDaemon() async throws {
    let server = try FakeServer { peer, _ in
      guard try peer.read() != nil else { return }
      peer.reply(#"{"event":"state","time":1,"state":"locked","cause":"c"}"#, continues: true)
    }
    defer { server.close() }
    var events = server.vault.events(patience: .zero).makeAsyncIterator()
    #expect(try await events.next()?.event == "state")
    await #expect(throws: ClientError.self) { while try await events.next() != nil {} }
  }

  @Test("A watcher is told of its own item alone, of moves to and from it, and at the start")
  func watchesOneItem() async throws {
    let step = AsyncStream<String>.makeStream()
    let server = try FakeServer { peer, _ in
      guard try peer.read() != nil else { return }
      peer.reply(#"{"event":"state","time":0,"state":"unlocked","cause":"c"}"#, continues: true)
      for event in [
        #"{"event":"item","time":1,"name":"b","change":"updated"}"#,
        #"{"event":"state","time":2,"state":"locked","cause":"c"}"#,
        #"{"event":"item","time":3,"name":"a","change":"updated"}"#,
        #"{"event":"item","time":4,"name":"a","change":"moved","to":"c"}"#,
        #"{"event":"item","time":5,"name":"c","change":"moved","to":"a"}"#,
      ] { peer.reply(event, continues: true) }
      step.continuation.finish()
      try peer.waitForEnd()
    }
    defer { server.close() }
    // Another stream of the same events shows when all have come.
    var picked = 0
    let listener = Listener(
      location: server.location, timeout: .seconds(30), patience: .seconds(60), interrupt: try Interrupt())
    try listener.run { event, isFirst in
      if Vault.concerns(event, "a") || isFirst { picked += 1 }
      return event.time < 5
    }
    #expect(picked == 4)
    var changes = server.vault.changes(of: "a").makeAsyncIterator()
    #expect(try await changes.next() != nil)
  }

  @Test("A watcher is told once at the start, though nothing has changed")
  func watcherBegins() async throws {
    let server = try FakeServer { peer, _ in
      guard try peer.read() != nil else { return }
      peer.reply(#"{"event":"state","time":0,"state":"unlocked","cause":"c"}"#, continues: true)
      // Garbage ends the stream, so that the earlier events can be counted.
      peer.send("garbage")
      try peer.waitForEnd()
    }
    defer { server.close() }
    var count = 0
    await #expect(throws: ClientError.self) { for try await _ in server.vault.changes(of: "a") { count += 1 } }
    #expect(count == 1)
  }

  @Test("A change of an item whose name is hidden may be one of any")
  func hiddenNames() {
    #expect(Vault.concerns(Vault.Event(event: "item", time: 1, change: "updated"), "a"))
    #expect(!Vault.concerns(Vault.Event(event: "state", time: 1, state: "locked"), "a"))
  }

  @Test("Changes that nobody took in the meantime count once")
  func coalesces() async throws {
    let all = Gate()
    let taken = Gate()
    let server = try FakeServer { peer, _ in
      guard try peer.read() != nil else { return }
      peer.reply(#"{"event":"state","time":0,"state":"unlocked","cause":"c"}"#, continues: true)
      for _ in 0..<50 { peer.reply(#"{"event":"item","time":1,"name":"a","change":"updated"}"#, continues: true) }
      all.open()
      taken.wait()
      // Garbage ends the stream, so that the remaining events can be counted.
      peer.send("garbage")
      try peer.waitForEnd()
    }
    defer { server.close() }
    let changes = server.vault.changes(of: "a")
    all.wait()
    taken.open()
    var count = 0
    await #expect(throws: ClientError.self) { for try await _ in changes { count += 1 } }
    #expect(count >= 1 && count <= 51)
  }
}
