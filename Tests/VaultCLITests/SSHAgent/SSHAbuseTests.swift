import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("Hostile clients of the ssh-agent") struct SSHAbuseTests {
  /// Returns the number of files that a process has open.
  private func openFiles(_ pid: Int32) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
  }

  /// Runs `body` beside an agent, with its one key. The agent serves another client before and after it, stays the same
  /// process, and ends with as many open files as before.
  private func withAgent(_ body: (_ sandbox: Sandbox, _ own: [UInt8]) throws -> Void) throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a")
    #expect(try sandbox.listed().contains(" ssh/a "))
    let pid = try #require(sandbox.daemonPid)
    let before = try openFiles(pid)
    try body(sandbox, #require(sandbox.join().keys().first).blob)
    #expect(try sandbox.listed().contains(" ssh/a "))
    // The daemon keeps descriptors of the last few client processes, so allow four more files.
    try wait(for: "the files to be closed") { try openFiles(pid) <= before + 4 }
    #expect(sandbox.daemonPid == pid)
  }

  @Test("frames of every length that is cut or too long end or are refused, and others are served") func frames() throws
  {
    try withAgent { sandbox, own in
      let key = SSHTestKey()
      let whole: [[UInt8]] = [
        .list, .sign(own, .login(own, .zeros(32), host: own)),
        key.adding(constraints: [1, 0, 0, 0, 9, 0xff] + .string("x")), .remove(own), .removeAll, .lock("p"),
        .unlock("p"), .bind(key, .zeros(32), isForwarding: true), .extension("query"),
      ]
      for body in whole {
        let client = try sandbox.join()
        for end in 1..<max(body.count, 1) {
          let found = try client.code(Array(body[..<end]))
          // A constraint may be the last one.
          #expect(found == 5 || found == 6 && body[0] == 0x19, "\(body[..<end])")
        }
        // The rest of a frame that has not come, and the end.
        for end in body.indices {
          let client = try sandbox.join()
          client.send(Array([UInt8].string(body)[..<(4 + end)]))
          client.finishSending()
          #expect(try client.answer() == nil, "\(body[0]) \(end)")
        }
      }
      // No frame, and one too long, end the connection before they are whole.
      for size in [0, (256 << 10) + 1, 1 << 20, 1 << 31, (1 << 32) - 1] {
        let client = try sandbox.join()
        client.send(.number(size))
        #expect(try client.receive(count: 1) == nil, "\(size)")
      }
      let client = try sandbox.join()
      #expect(try client.code(.unknown + .zeros((256 << 10) - 1)) == 5)
      #expect(try client.code(.list) == 12)
      // Byte by byte.
      for byte in [UInt8].string(.list) { client.send([byte]) }
      #expect(try client.code() == 12)
    }
  }

  @Test("a thousand connections that bind and drop leave nothing behind") func dropped() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let pid = try #require(sandbox.daemonPid)
    let body: [UInt8] = .string(.bind(SSHTestKey(), .zeros(32), isForwarding: true))
    func drop() throws {
      for number in 0..<1000 {
        let client = try sandbox.join()
        // There may be too many just then.
        client.send(number % 3 == 0 ? Array(body[..<(number % body.count)]) : body)
        if number % 2 != 0 && number % 3 != 0 { _ = try client.answer() }
      }
      #expect(try sandbox.join().code(.list) == 12)
    }
    try drop()
    _ = try sandbox.listed()
    let (files, memory) = (try openFiles(pid), try ProcessMemory.bytes("VmRSS", of: pid))
    for _ in 0..<3 { try drop() }
    try wait(for: "the files to be closed") { try openFiles(pid) <= files + 4 }
    #expect(try ProcessMemory.bytes("VmRSS", of: pid) - memory < 2 << 20)
  }

  @Test("requests that come at once are answered in their order") func pipelined() throws {
    try withAgent { sandbox, own in
      let bodies: [[UInt8]] = [.list, .sign(own, .login(own, .zeros(32))), .unknown]
      let codes: [UInt8] = [12, 14, 5]
      let sent = bodies.flatMap { [UInt8].string($0) }
      let client = try sandbox.join()
      // As much as the agent takes, while its answers are read.
      let load = Array(repeatElement(sent, count: 1000).joined())
      var place = client.sendWithoutWaiting(load)
      for number in 0..<3000 {
        let found = try client.code()
        #expect(found == codes[number % 3], "\(number)")
        if place < load.count { place += client.sendWithoutWaiting(Array(load[place...])) }
      }
      // Many at once, each with many.
      let clients = try (0..<30).map { _ in try sandbox.join() }
      for client in clients { client.send(Array(repeatElement(sent, count: 30).joined())) }
      for client in clients { for number in 0..<90 { #expect(try client.code() == codes[number % 3]) } }
    }
  }

  @Test("the many keys that a list needs are read while others are served, and all answers keep their order")
  func manyKeys() throws {
    try withAgent { sandbox, own in
      // More than are read in one turn.
      let setting = try sandbox.client()
      func add(_ number: Int) throws {
        let key: [String: Any] = ["name": "many/\(number)", "use": "ssh", "generate": ["style": "ed25519"]]
        #expect(try setting.call("Set", key).error == nil, "\(number)")
      }
      for number in 0..<1000 { try add(number) }
      let bodies: [[UInt8]] = [.list, .unknown, .sign(own, .login(own, .zeros(32))), .list]
      let codes: [UInt8] = [12, 5, 14, 12]
      for round in 0..<5 {
        // A lock and an unlock drop the list. One that does not stay for its answer has the list read, too.
        try sandbox.must(["lock"])
        try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
        try sandbox.join().ask(.list)
        let clients = try (0..<4).map { _ in try sandbox.join() }
        for client in clients { client.send(bodies.flatMap { [UInt8].string($0) }) }
        try add(1000 + round)
        for client in clients { for code in codes { #expect(try client.code() == code, "\(round)") } }
        #expect(try sandbox.join().keys().count == 1002 + round)
        #expect(try sandbox.must(["status"]).contains("; offers \(1002 + round) keys"))
      }
      // A lock in the middle of it ends the requests that wait.
      let client = try sandbox.join()
      client.send(bodies.flatMap { [UInt8].string($0) })
      client.finishSending()
      try sandbox.must(["lock"])
      var answered: [UInt8] = []
      while let code = try client.code() { answered.append(code) }
      #expect(answered.count <= 4 && zip(answered, codes).allSatisfy { $0 == $1 || $0 == 5 }, "\(answered)")
      #expect(try sandbox.join().keys().count == 1006)
    }
  }

  @Test("one that closes its half behind many requests gets every answer") func halfClosed() throws {
    try withAgent { sandbox, own in
      let bodies: [[UInt8]] = [.list, .sign(own, .login(own, .zeros(32))), .unknown + .zeros(1000)]
      let codes: [UInt8] = [12, 14, 5]
      let load = Array(repeatElement(bodies.flatMap { [UInt8].string($0) }, count: 70).joined())
      let client = try sandbox.join()
      #expect(try client.code(.list) == 12)
      // The agent finds the requests together with the end.
      try sandbox.signalDaemon(SIGSTOP)
      let sent = client.sendWithoutWaiting(load)
      client.finishSending()
      try sandbox.signalDaemon(SIGCONT)
      #expect(sent == load.count)
      for number in 0..<210 {
        let found = try client.code()
        #expect(found == codes[number % 3], "\(number)")
      }
      #expect(try client.code() == nil)
    }
  }

  @Test("one that never reads, and one with half a frame, keep nobody waiting") func unread() throws {
    try withAgent { sandbox, own in
      let body: [UInt8] = .string(.sign(own, .login(own, .zeros(32))))
      let silent = try (0..<20).map { _ in try sandbox.join() }
      for client in silent { client.send(Array(body[..<30])) }
      let deaf = try sandbox.join()
      let load = Array(repeatElement(body, count: 100).joined())
      var (sent, count) = (0, load.count)
      while sent < 64 << 20 && count == load.count {
        count = deaf.sendWithoutWaiting(load)
        sent += count
      }
      #expect(sent < 16 << 20)
      for _ in 0..<100 { #expect(try sandbox.join().code(.list) == 12) }
      withExtendedLifetime((silent, deaf)) {}
    }
  }

  @Test("there are no more connections than there may be: the one that was silent longest makes room") func crowd()
    throws
  {
    try withAgent { sandbox, _ in
      var clients = [try sandbox.join()]
      while clients.count < 500 {
        let client = try sandbox.join()
        clients.append(client)
        #expect(try client.code(.list) == 12)
        if clients.count == 20 { #expect(try clients[0].code(.list) == 12) }
      }
      // Those that were heard last are there, and the first of all is not.
      for client in clients.suffix(32) { #expect(try client.code(.list) == 12) }
      let gone = clients.count { $0.receiveWithoutWaiting() == nil }
      #expect(clients.count - 128 <= gone && gone <= clients.count - 32)
    }
  }

  @Test("one that finds no room is turned away, which the journal says once a minute") func full() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    // So few files leave no room for a single SSH program.
    let limited = ["/usr/bin/prlimit", "--nofile=64:64", Sandbox.path(of: "vaultd")]
    try sandbox.startDaemon(config: sshAgentOn, through: limited)
    for _ in 0..<5 { #expect(try sandbox.join().receive(count: 1) == nil) }
    let line = "was refused: all connections wait for their answers"
    try wait(for: "the line") { sandbox.daemonLog.contains(line) }
    #expect(sandbox.daemonLog.split(separator: "\n").count { $0.contains(line) } == 1, "\(sandbox.daemonLog)")
  }

  @Test("what is sent at once by one that does not stay for the answers harms nobody") func leaving() throws {
    try withAgent { sandbox, _ in
      let load = Array(repeatElement([UInt8].string(.list), count: 3000).joined())
      for _ in 0..<250 { try sandbox.join().send(load) }
    }
  }
}
