import Glibc
import Testing
import VaultBytes
import VaultWire

@testable import VaultClient

@Suite struct CallTests {
  /// Makes a server that answers every request on every connection with the same parameters.
  static func server(_ parameters: String) throws -> FakeServer {
    try FakeServer { peer, _ in
      while try peer.read() != nil { peer.reply(parameters) }
    }
  }

  @Test(
    "A value arrives exactly, as text and as data",
    arguments: [
      (#""value":"p\u00e4ss\n""#, Array("päss\n".utf8)), (#""value":"""#, []), (#""data":"AP8K""#, [0, 255, 10]),
      (#""data":"""#, []), (#""value":null,"data":"\/\/8=""#, [255, 255]),
    ] as [(String, [UInt8])])
  func readsValues(_ json: String, _ bytes: [UInt8]) throws {
    let server = try CallTests.server("{\"name\":\"a\",\"version\":3,\(json)}")
    defer { server.close() }
    let value = try server.vault.read("a")
    #expect(value.name == "a")
    #expect(value.version == 3)
    #expect(value.bytes.array == bytes)
  }

  @Test("Text is had as a String, other bytes are not")
  func readsText() throws {
    let text = try CallTests.server(#"{"name":"a","version":1,"value":"é"}"#)
    defer { text.close() }
    #expect(try text.vault.get("a", as: String.self) == "é")
    let server = try CallTests.server(#"{"name":"a","version":1,"data":"/w=="}"#)
    defer { server.close() }
    #expect(throws: ClientError.notText(name: "a")) { try server.vault.get("a", as: String.self) }
  }

  @Test("Calls say what they were asked to say, and share a connection")
  func sendsParameters() throws {
    let server = try CallTests.server(#"{"name":"a","version":1,"value":""}"#)
    defer { server.close() }
    var vault = server.vault
    _ = try vault.get("a")
    vault.interactive = true
    vault.reason = "poller"
    _ = try vault.get("é/b", version: 2, wait: .milliseconds(1500), expired: true)
    #expect(
      server.heard == [
        "Get{name:a}", "Get{name:é/b,version:2,wait_ms:1500,reason:poller,interactive:true,expired:true}",
      ])
    #expect(server.connections == 1)
  }

  @Test("A token's number is sent as it stands in the token, whatever its letters are")
  func sendsSmallLetters() throws {
    let server = try CallTests.server(#"{"list":"a.revoked","version":1}"#)
    defer { server.close() }
    try server.vault.revokeToken("a", id: "0123456789ABCDEF0123456789abcdef")
    #expect(server.heard == ["RevokeToken{name:a,id:0123456789abcdef0123456789abcdef}"])
  }

  @Test("Every call has its method and its reply")
  func callsEverything() throws {
    let item =
      #"{"name":"a","kind":"note","attributes":{},"accessible":"always","require":"none","reuse":60,"version":1,"#
      + #""created":1,"modified":1,"size":0}"#
    let server = try FakeServer { peer, _ in
      while let request = try peer.read() {
        switch request.prefix(while: { $0.isLetter }) {
        case "Status":
          peer.reply(
            #"{"state":"new","cause":"c","since":1,"locks_on":[],"methods":[],"warnings":[],"version":"1","pid":2}"#)
        case "Show": peer.reply("{\"item\":\(item)}")
        case "History": peer.reply(#"{"versions":[{"version":1,"created":2,"size":3,"current":true}]}"#)
        case "Find": peer.reply("{\"items\":[\(item)],\"next\":\"9\"}")
        case "ListSlots":
          peer.reply(
            #"{"slots":[{"id":1,"kind":"password","label":"l","created":1,"kdf_memory":1,"kdf_passes":1,"users":[]}]}"#)
        case "Set": peer.reply(#"{"version":7}"#)
        case "SetMany": peer.reply(#"{"versions":[1,2]}"#)
        default: peer.reply()
        }
      }
    }
    defer { server.close() }
    let vault = server.vault
    #expect(try vault.status().state == "new")
    try vault.lock()
    #expect(try vault.show("a").kind == "note")
    #expect(try vault.history("a").map(\.size) == [3])
    let page = try vault.page(of: "kind=note", limit: 1, after: "4")
    #expect(page.next == "9" && page.items.count == 1)
    #expect(try vault.slots().map(\.id) == [1])
    #expect(try vault.set(Wire.NewItem(name: "a", kind: "note", update: true), value: SecretBuffer("v")).version == 7)
    #expect(try vault.set(Wire.NewItem(name: "a", generate: Wire.Generator(style: "phrase", length: 6))).version == 7)
    var batch = Batch()
    batch.add(Wire.NewItem(name: "b"), value: SecretBuffer("\u{1}"))
    batch.add(Wire.NewItem(name: "c"))
    #expect(batch.count == 2)
    #expect(try vault.setMany(batch) == [1, 2])
    try vault.delete(["a", "b"])
    try vault.move("a", to: "b")
    #expect(
      server.heard == [
        "Status{}", "Lock{}", "Show{name:a}", "History{name:a}", "Find{query:kind=note,limit:1,after:4}",
        "ListSlots{}", "Set{name:a,kind:note,update:true,value:v}", "Set{name:a,generate:{style:phrase,length:6}}",
        "SetMany{items:[{name:b,data:AQ==},{name:c}]}", "Delete{names:[a,b]}", "Move{from:a,to:b}",
      ])
    #expect(server.connections == 1)
  }

  @Test("A connection takes any method, and gives the frame of the reply")
  func callsRaw() throws {
    let server = try CallTests.server(
      #"{"vendor":"v","product":"p","version":"1","url":"u","interfaces":["io.vaultd.Vault"]}"#)
    defer { server.close() }
    let frame = try Connection(to: server.location).call(.getInfo) { Wire.Empty().write(to: &$0) }
    let info = try Wire.GetInfoReply(frame, try Reply(frame).parameters)
    #expect(info.interfaces == ["io.vaultd.Vault"])
    #expect(server.heard == ["GetInfo{}"])
  }

  @Test("A person's calls are marked, all that can be")
  func marksInteractive() throws {
    let server = try CallTests.server("{}")
    defer { server.close() }
    var vault = server.vault
    vault.interactive = true
    try vault.delete(["a"])
    try vault.move("a", to: "b")
    var batch = Batch()
    batch.add(Wire.NewItem(name: "c"))
    _ = clientError { _ = try vault.setMany(batch) }
    _ = clientError { _ = try vault.set(Wire.NewItem(name: "c"), value: SecretBuffer("v")) }
    _ = clientError { _ = try vault.show("a") }
    _ = clientError { _ = try vault.history("a") }
    _ = clientError { _ = try vault.page() }
    #expect(server.heard.count == 7)
    for request in server.heard { #expect(request.contains("interactive:true")) }
  }

  @Test(
    "The daemon's errors arrive as faults, and the connection goes on",
    arguments: [
      (
        #""io.vaultd.Vault.Locked","parameters":{"state":"cold","cause":"start"}"#,
        Fault.locked(state: "cold", cause: "start")
      ),
      (#""io.vaultd.Vault.NoVault""#, .noVault),
      (
        #""io.vaultd.Vault.FromTheFuture","parameters":{"a":1}"#,
        .unknown("io.vaultd.Vault.FromTheFuture")
      ),
      (
        #""org.varlink.service.InvalidParameter","parameters":{"parameter":"name"}"#,
        .service(.invalidParameter(parameter: "name"))
      ),
    ])
  func mapsErrors(_ json: String, _ fault: Fault) throws {
    let server = try FakeServer { peer, _ in
      while try peer.read() != nil { peer.send("{\"error\":\(json)}") }
    }
    defer { server.close() }
    let vault = server.vault
    for _ in 0..<2 { #expect(throws: ClientError.fault(fault)) { _ = try vault.get("a") } }
    #expect(server.connections == 1)
  }

  @Test(
    "Members that a newer daemon adds are passed over, wherever they stand",
    arguments: [
      #"{"parameters":{"name":"a","version":1,"value":"v","later":[{"x":1}]}}"#,
      #"{"later":{},"parameters":{"name":"a","version":1,"value":"v"}}"#,
      #"{"error":"io.vaultd.Vault.Locked","parameters":{"state":"cold","later":1,"cause":"start"},"later":2}"#,
    ])
  func passesOverLaterMembers(_ reply: String) throws {
    let server = try FakeServer { peer, _ in
      while try peer.read() != nil { peer.send(reply) }
    }
    defer { server.close() }
    if reply.contains("error") {
      #expect(throws: ClientError.fault(.locked(state: "cold", cause: "start"))) { _ = try server.vault.get("a") }
    } else {
      #expect(try server.vault.get("a", as: String.self) == "v")
    }
  }

  @Test("A reply in single bytes is a reply")
  func acceptsSlowReplies() throws {
    let server = try FakeServer { peer, _ in
      while try peer.read() != nil {
        for byte in Array(#"{"parameters":{"name":"a","version":1,"value":"é"}}"#.utf8) + [0] { peer.send([byte]) }
      }
    }
    defer { server.close() }
    #expect(try server.vault.get("a", as: String.self) == "é")
  }

  @Test(
    "What is no reply is a protocol violation",
    arguments: [
      "HTTP/1.1 400 Bad Request\r\n\r\n", "", "[]", "{\"parameters\":[]}", "{\"parameters\":{\"name\":\"a\"}}", "{}",
      "{\"reply\":{}}",
      "{\"parameters\":{\"name\":\"a\",\"version\":1}}",
      "{\"parameters\":{\"name\":\"a\",\"version\":1,\"data\":\"?\"}}",
      "{\"parameters\":{\"name\":\"a\",\"version\":1,\"value\":\"\",\"data\":\"\"}}",
      "{\"parameters\":{\"name\":\"a\",\"version\":1,\"value\":\"\"},\"continues\":true}",
      "{\"error\":\"io.vaultd.Vault.NoSuchItem\",\"parameters\":{}}", "{\"error\":7}", "{\"a\":1,\"a\":1}",
    ])
  func refusesGarbage(_ reply: String) throws {
    let server = try FakeServer { peer, _ in
      while try peer.read() != nil { peer.send(reply) }
    }
    defer { server.close() }
    #expect(isViolation(clientError { _ = try server.vault.get("a") }))
    #expect(server.heard.count == 1)
  }

  @Test("A reply without an end is refused at 2 MiB")
  func refusesEndlessReplies() throws {
    let server = try FakeServer { peer, _ in
      _ = try peer.read()
      let chunk = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 16)
      for _ in 0..<64 { peer.send(chunk) }
      try peer.waitForEnd()
    }
    defer { server.close() }
    #expect(isViolation(clientError { _ = try server.vault.get("a") }))
  }

  @Test("A reply of exactly 2 MiB is read")
  func acceptsLongestReply() throws {
    let server = try FakeServer { peer, _ in
      while try peer.read() != nil {
        let head = #"{"parameters":{"name":"a","version":1,"value":""#
        let count = (2 << 20) - head.utf8.count - 3
        peer.send(head + String(repeating: "x", count: count) + "\"}}")
      }
    }
    defer { server.close() }
    let value = try server.vault.get("a")
    #expect(value.count > 2_000_000)
  }

  @Test("A server that says nothing does not hold up the client")
  func timesOut() throws {
    let server = try FakeServer { peer, _ in try peer.waitForEnd() }
    defer { server.close() }
    var vault = server.vault
    vault.timeout = .milliseconds(20)
    #expect(throws: ClientError.timedOut) { _ = try vault.status() }
    #expect(throws: ClientError.timedOut) { _ = try vault.set(Wire.NewItem(name: "a")) }
    #expect(throws: ClientError.timedOut) { try vault.monitor(patience: .zero) { _ in true } }
    #expect(throws: ClientError.timedOut) { _ = try vault.find() }
  }

  @Test("A server that stops in the middle of a reply does not hold up the client")
  func timesOutInTheMiddle() throws {
    let server = try FakeServer { peer, _ in
      _ = try peer.read()
      peer.send(Array("{\"parameters\":".utf8))
      try peer.waitForEnd()
    }
    defer { server.close() }
    var vault = server.vault
    vault.timeout = .milliseconds(20)
    #expect(throws: ClientError.timedOut) { _ = try vault.status() }
  }

  @Test("A server that does not read does not hold up the client")
  func timesOutOnWriting() throws {
    let isOver = Gate()
    let server = try FakeServer { _, _ in isOver.wait() }
    defer { server.close() }
    defer { isOver.open() }
    var vault = server.vault
    vault.timeout = .milliseconds(20)
    var large = SecretBuffer()
    large.append(count: 1 << 20) { _ in }
    let error = clientError { _ = try vault.set(Wire.NewItem(name: "a"), value: large) }
    #expect(error == .timedOut)
  }

  @Test("A call that waits for an unlock is given that time on top")
  func waitsLonger() throws {
    let server = try CallTests.server(#"{"name":"a","version":1,"value":"late"}"#)
    defer { server.close() }
    var vault = server.vault
    vault.timeout = .zero
    #expect(try vault.get("a", as: String.self, wait: .seconds(60)) == "late")
  }

  @Test("A request above 2 MiB is not even sent")
  func refusesLargeRequests() throws {
    let server = try CallTests.server("{\"version\":1}")
    defer { server.close() }
    var large = SecretBuffer()
    large.append(count: 2 << 20) { _ in }
    let error = clientError { _ = try server.vault.set(Wire.NewItem(name: "a"), value: large) }
    #expect(error == .tooLarge(limit: 2 << 20))
    #expect(server.connections == 0)
  }
}
