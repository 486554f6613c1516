import Testing
import VaultBytes
import VaultWire

@testable import VaultClient

@Suite("Reading ahead") struct ReadingAheadTests {
  /// Takes the next value as text, or the error in its place.
  private static func next(_ reading: ReadingAhead) -> Result<String, ClientError> {
    do throws(ClientError) {
      let value = try reading.next()
      return .success("\(value.name) \(value.version) \(String(decoding: value.bytes.array, as: UTF8.self))")
    } catch { return .failure(error) }
  }

  private static func value(_ name: String) -> String { #"{"name":"\#(name)","version":1,"value":"of \#(name)"}"# }

  @Test("sends all questions before the first reply comes, and gives the replies in their order")
  func order() throws {
    let server = try FakeServer { peer, _ in
      for _ in 0..<3 { _ = try peer.read() }
      for name in ["a", "b", "c"] { peer.reply(Self.value(name)) }
      try peer.waitForEnd()
    }
    defer { server.close() }
    let reading = ReadingAhead(server.vault)
    #expect(reading.ask("a", size: 4))
    #expect(reading.ask("b", version: 2, expired: true, describe: true, size: 4))
    #expect(reading.ask("c", size: 4))
    try reading.send()
    #expect(Self.next(reading) == .success("a 1 of a"))
    #expect(Self.next(reading) == .success("b 1 of b"))
    #expect(Self.next(reading) == .success("c 1 of c"))
    #expect(server.heard == ["Get{name:a}", "Get{name:b,version:2,expired:true,describe:true}", "Get{name:c}"])
    #expect(server.connections == 1)
  }

  @Test("gives a refusal in the place of its value, and goes on")
  func refusal() throws {
    let server = try FakeServer { peer, _ in
      _ = try peer.read()
      peer.send(#"{"error":"io.vaultd.Vault.NoSuchItem","parameters":{"name":"a"}}"#)
      while try peer.read() != nil { peer.reply(Self.value("b")) }
    }
    defer { server.close() }
    let reading = ReadingAhead(server.vault)
    #expect(reading.ask("a", size: 4) && reading.ask("b", size: 4))
    #expect(Self.next(reading) == .failure(.fault(.noSuchItem(name: "a", unverified: nil))))
    #expect(Self.next(reading) == .success("b 1 of b"))
    #expect(reading.ask("b", size: 4))
    #expect(Self.next(reading) == .success("b 1 of b"))
    #expect(server.connections == 1)
  }

  @Test("has no question left once the daemon has gone away, and asks the next daemon")
  func restart() throws {
    let server = try FakeServer { peer, number in
      _ = try peer.read()
      peer.reply(Self.value("a"))
      if number > 0 { try peer.waitForEnd() }
    }
    defer { server.close() }
    let reading = ReadingAhead(server.vault)
    for name in ["a", "b", "c"] { #expect(reading.ask(name, size: 4)) }
    #expect(Self.next(reading) == .success("a 1 of a"))
    for _ in 0..<2 { #expect(Self.next(reading) == .failure(.disconnected)) }
    #expect(reading.ask("a", size: 4))
    #expect(Self.next(reading) == .success("a 1 of a"))
    #expect(server.connections == 2)
  }

  @Test("has room for a limited number of questions, and of bytes in their replies, until all are answered")
  func limits() throws {
    let server = try FakeServer { peer, _ in while try peer.read() != nil { peer.reply(Self.value("a")) } }
    defer { server.close() }
    let reading = ReadingAhead(server.vault)
    #expect(!reading.ask("a", size: ReadingAhead.largest + 1))
    for _ in 0..<2 {
      var count = 0
      while reading.ask("a", size: 4) { count += 1 }
      #expect(count == ReadingAhead.most.calls)
      for _ in 0..<count { #expect(Self.next(reading) == .success("a 1 of a")) }
      while reading.ask("a", size: ReadingAhead.largest) { count -= 1 }
      let large = ReadingAhead.most.values / ReadingAhead.largest
      #expect(count == ReadingAhead.most.calls - large)
      for _ in 0..<large { #expect(Self.next(reading) == .success("a 1 of a")) }
    }
    #expect(server.connections == 1)
  }

  @Test("works while the daemon stores something")
  func meanwhile() throws {
    let asked = Gate()
    let server = try FakeServer { peer, _ in
      while let call = try peer.read() {
        if call.hasPrefix("Get") {
          peer.reply(Self.value("a"))
          asked.open()
        } else {
          // The reply comes only after the value was asked for.
          asked.wait()
          peer.reply(#"{"versions":[1]}"#)
        }
      }
    }
    defer { server.close() }
    let reading = ReadingAhead(server.vault)
    var batch = Batch()
    batch.add(Wire.NewItem(name: "b"), value: SecretBuffer("v"))
    var found: [Result<String, ClientError>] = []
    let versions = try server.vault.setMany(
      batch, 0..<1,
      meanwhile: {
        #expect(reading.ask("a", size: 4))
        found.append(Self.next(reading))
      })
    #expect(versions == [1] && found == [.success("a 1 of a")])
  }
}
