import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("Hostile bytes and clients") struct WireAbuseTests {
  private let status = #"{"method":"io.vaultd.Vault.Status"}"#

  private func withDaemon(_ config: String? = nil, _ body: (Sandbox) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(config: config)
    try body(sandbox)
    // The daemon still answers, whatever `body` did.
    #expect(try sandbox.client().call("Status").string("state") == "new")
  }

  @Test(
    "a frame that is no call is answered with an error, and the connection ends",
    arguments: [
      "", "nonsense", "[]", "17", "{", "{\"method\":", #"{"method":"a","method":"b"}"#, "{\"method\":\"\\ud800\"}",
      "{\"a\":" + String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000) + "}",
    ])
  func malformed(_ frame: String) throws {
    try withDaemon { (sandbox) throws in
      let client = try sandbox.client()
      client.send(frame: frame)
      #expect(try client.reply().error == "InvalidFrame")
      #expect(try client.receive() == nil)
    }
  }

  @Test("bytes that are no UTF-8 are refused") func notUTF8() throws {
    try withDaemon { (sandbox) throws in
      let client = try sandbox.client()
      client.send(Array(#"{"method":""#.utf8) + [0xFF, 0xFE] + Array("\"}\0".utf8))
      #expect(try client.reply().error == "InvalidFrame")
    }
  }

  @Test("a frame over 2 MiB is refused before it is whole") func tooLong() throws {
    try withDaemon { (sandbox) throws in
      let client = try sandbox.client()
      client.send([UInt8](repeating: UInt8(ascii: " "), count: (2 << 20) + 1))
      let reply = try client.reply()
      #expect(reply.error == "TooLarge")
      #expect(reply.integer("limit") == 2 << 20)
    }
  }

  @Test("what the interface does not know is told apart") func unknown() throws {
    try withDaemon { (sandbox) throws in
      let client = try sandbox.client()
      #expect(try client.call("Nonsense").error == "org.varlink.service.MethodNotFound")
      #expect(try client.call("io.example.Thing.Do").error == "org.varlink.service.InterfaceNotFound")
      #expect(try client.call("Get").error == "org.varlink.service.InvalidParameter")
      #expect(try client.call("Get").string("parameter") == "name")
      #expect(try client.call("Get", ["name": 5]).string("parameter") == "name")
      #expect(try client.call("Get", ["name": "a", "nmae": "b"]).string("parameter") == "nmae")
      #expect(try client.call("Unlock").error == "org.varlink.service.ExpectedMore")
      client.send(frame: #"{"parameters":{}}"#)
      #expect(try client.reply().string("parameter") == "method")
    }
  }

  @Test("a call that wants no reply gets none") func oneway() throws {
    try withDaemon { (sandbox) throws in
      let client = try sandbox.client()
      client.send(frame: #"{"method":"io.vaultd.Vault.Nonsense","oneway":true}"#)
      #expect(try client.call("Status").error == nil)
    }
  }

  @Test("a frame may come byte by byte, and many may come at once") func pieces() throws {
    try withDaemon { (sandbox) throws in
      let client = try sandbox.client()
      for byte in Array(status.utf8) + [0] { client.send([byte]) }
      #expect(try client.reply().string("state") == "new")
      client.send((0..<500).flatMap { _ in Array(status.utf8) + [0] })
      for _ in 0..<500 { #expect(try client.reply().string("state") == "new") }
    }
  }

  @Test("a client that closes its half still gets its answer") func halfClosed() throws {
    try withDaemon { (sandbox) throws in
      let client = try sandbox.client()
      client.send(frame: status)
      client.finishSending()
      #expect(try client.reply().string("state") == "new")
      #expect(try client.receive() == nil)
    }
  }

  @Test("a client that closes its half behind many calls gets every answer") func halfClosedBehindMany() throws {
    try withDaemon { (sandbox) throws in
      let client = try sandbox.client()
      #expect(try client.call("Status").error == nil)
      let call = status.replacing("}", with: String(repeating: " ", count: 1000) + "}")
      let frame = Array(call.utf8) + [0]
      // The daemon finds the calls together with the end.
      try sandbox.signalDaemon(SIGSTOP)
      let sent = client.sendWithoutWaiting(Array(repeatElement(frame, count: 90).joined()))
      client.finishSending()
      try sandbox.signalDaemon(SIGCONT)
      #expect(sent == 90 * frame.count)
      for _ in 0..<90 { #expect(try client.reply().string("state") == "new") }
      #expect(try client.receive() == nil)
    }
  }

  @Test("half a frame, silence and no reading cost the others nothing") func slowClients() throws {
    try withDaemon { (sandbox) throws in
      let half = try (0..<20).map { _ in try sandbox.client() }
      for client in half { client.send(Array(#"{"method":"io.vaul"#.utf8)) }
      // A client that asks for much and reads nothing: the daemon reads its requests only as far as the replies fit.
      let deaf = try sandbox.client()
      let many: [UInt8] = (0..<1000).flatMap { _ in Array(status.utf8) + [0] }
      var (sent, rounds) = (0, 0)
      while rounds < 50 {
        let count = deaf.sendWithoutWaiting(many)
        sent += count
        // The daemon takes no more once nothing goes out, round after round, while other clients are served.
        rounds = count == 0 ? rounds + 1 : 0
        #expect(try sandbox.client().call("Status").string("state") == "new")
        guard sent < 16 << 20 else { break }
      }
      #expect(sent < 16 << 20)
      // The other clients can still complete their frames.
      for client in half { client.send(Array(#"td.Vault.Status"}"#.utf8) + [0]) }
      for client in half { #expect(try client.reply().string("state") == "new") }
    }
  }

  @Test("silent clients keep nobody out: the longest silent one makes room") func connectionLimit() throws {
    try withDaemon("max-connections = 4") { (sandbox) throws in
      let clients = try (0..<4).map { _ in try sandbox.client() }
      for client in clients { #expect(try client.call("Status").error == nil) }
      #expect(try clients[0].call("Status").error == nil)
      let fifth = try sandbox.client()
      #expect(try fifth.call("Status").error == nil)
      #expect(try clients[1].receive() == nil)
      for client in [clients[0], clients[2], clients[3], fifth] { #expect(try client.call("Status").error == nil) }
    }
  }

  @Test("calls that wait make room last, and are told so") func heldConnections() throws {
    try withDaemon("max-connections = 4") { (sandbox) throws in
      let watching = try (0..<3).map { _ in try sandbox.client() }
      for client in watching { #expect(try client.call("Monitor", more: true).string("event") == "state") }
      // Each client takes the previous client's place.
      for _ in 0..<20 { #expect(try sandbox.client().call("Status").error == nil) }
      let fourth = try sandbox.client()
      #expect(try fourth.call("Monitor", more: true).error == nil)
      #expect(try sandbox.client().call("Status").error == nil)
      #expect(try watching[0].reply().error == "TooManyConnections")
      #expect(try watching[0].receive() == nil)
    }
  }

  @Test(
    "many half frames of one uid are held only as far as its bytes go",
    .disabled(if: Sanitizer.isPresent, "a sanitizer keeps what was given back"))
  func halfFrames() throws {
    try withDaemon { (sandbox) throws in
      #expect(try sandbox.client().call("Status").error == nil)
      let pid = try #require(sandbox.daemonPid)
      let before = try ProcessMemory.bytes("VmRSS", of: pid)
      let half = [UInt8](repeating: UInt8(ascii: " "), count: 1_900_000)
      let clients = try (0..<40).map { _ in try sandbox.client() }
      for client in clients { client.send(half) }
      // This call of a later client is answered after all frames were read or refused.
      #expect(try sandbox.client().call("Status").error == nil)
      #expect(try ProcessMemory.bytes("VmRSS", of: pid) < before + 48 << 20)
      for client in clients { client.finishSending() }
      let told = try clients.filter { try $0.receive()?["error"] as? String == "io.vaultd.Vault.TooManyRequests" }
      #expect(told.count >= 30 && told.count < 40)
    }
  }

  @Test("at the limit of open files the daemon rests between requests, and accepts again when there is room")
  func descriptorLimit() throws {
    try withDaemon { (sandbox) throws in
      var first: WireClient? = try sandbox.client()
      #expect(try first?.call("Status").error == nil)
      let pid = try #require(sandbox.daemonPid)
      let open = Set(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").compactMap { Int($0) })
      let free = try #require((0...).first { !open.contains($0) })
      func limit(to count: Int) throws {
        let limited = try sandbox.run(["--pid", "\(pid)", "--nofile=\(count):4096"], program: "/usr/bin/prlimit")
        #expect(limited.status == 0, "\(limited)")
      }
      try limit(to: free)
      let second = try sandbox.client()
      second.send(frame: status)
      // A loop that kept meeting the same error would never go to sleep.
      let before = try Self.timesAsleep(pid)
      var requests = 0
      while try requests < 10_000 && Self.timesAsleep(pid) < before + 5 {
        #expect(try first?.call("Status").error == nil)
        requests += 1
      }
      #expect(try Self.timesAsleep(pid) >= before + 5)
      // There is room for the socket only: the descriptor of the first client's process is closed to make room for that
      // of the second's.
      first = nil
      let answer = try second.reply()
      #expect(answer.error == nil, "\(answer)")
      // An unlock needs a descriptor, too.
      try limit(to: 1024)
      #expect(try sandbox.client().call("Status").error == nil)
    }
  }

  /// Returns the number of times that the process's first thread went to sleep voluntarily.
  private static func timesAsleep(_ pid: Int32) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(pid)/task/\(pid)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") })
    return try #require(Int(line.filter(\.isNumber)))
  }

  @Test("the interface describes itself") func introspection() throws {
    try withDaemon { (sandbox) throws in
      let client = try sandbox.client()
      let info = try client.call("org.varlink.service.GetInfo")
      #expect(info.parameters["interfaces"] as? [String] == ["org.varlink.service", "io.vaultd.Vault"])
      let text = try client.call(
        "org.varlink.service.GetInterfaceDescription", ["interface": "io.vaultd.Vault"]
      ).string("description")
      #expect(text?.contains("\ninterface io.vaultd.Vault\n") == true)
      #expect(
        try client.call("org.varlink.service.GetInterfaceDescription", ["interface": "x.y"]).error
          == "org.varlink.service.InterfaceNotFound")
    }
  }
}
