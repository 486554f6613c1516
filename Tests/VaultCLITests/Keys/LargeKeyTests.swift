import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("Large RSA keys") struct LargeKeyTests {
  private static let helper = "vault-rsa"

  /// Waits for the helper process that computes, and returns its pid.
  private static func begun(_ sandbox: Sandbox) throws -> Int32 {
    // The daemon's pid is asked for once: each question takes a connection, and many in a row would keep other clients
    // from the daemon.
    let daemon = try #require(sandbox.daemonPid)
    var found: Int32?
    try wait(for: "the helper") {
      found = ProcessTree.processes(named: helper, of: daemon).first
      return found != nil
    }
    return try #require(found)
  }

  /// Makes a key of 3072 bits with OpenSSL, which takes less time than the helper does.
  private static func foreignKey(_ sandbox: Sandbox) throws -> String {
    let made = try sandbox.run(
      ["genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"], program: "/usr/bin/openssl")
    try #require(made.status == 0, "\(made)")
    return made.output
  }

  @Test("a lock ends the making of a key, and refuses whoever waits for it") func lock() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let making = Begun(sandbox, ["set", "big", "--use", "sign", "--generate", "rsa4096"])
    let process = try ProcessTree.stopped(named: Self.helper, of: #require(sandbox.daemonPid))
    try sandbox.must(["lock"])
    try wait(for: "its end") { !ProcessTree.hasMemory(process) }
    let outcome = try making.outcome()
    #expect(outcome.status == 75 && outcome.errors.contains("locked"), "\(outcome)")
    let daemon = try #require(sandbox.daemonPid)
    // The killed helper stays in the process table until the daemon has reaped it.
    try wait(for: "the last of it") { ProcessTree.processes(named: Self.helper, of: daemon).isEmpty }
  }

  @Test("are computed with in memory that is locked, the heap included") func locked() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let making = Begun(sandbox, ["set", "big", "--use", "sign", "--generate", "rsa4096"])
    let process = try Self.begun(sandbox)
    try wait(for: "a locked heap") {
      let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmLck:") }
      let size = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
      // libgcrypt's own pool and the key's pages come to less.
      return size >= 1024
    }
    kill(process, SIGKILL)
    _ = try making.outcome()
  }

  @Test("so does the end of its client, and the daemon's own") func client() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let command = ["set", "big", "--use", "sign", "--generate", "rsa4096"]
    for signal in [SIGKILL, SIGTERM] {
      let terminal = try Terminal(sandbox, command)
      let process = try Self.begun(sandbox)
      terminal.signal(signal)
      try wait(for: "the helper's end") { !ProcessTree.hasMemory(process) }
      _ = try terminal.wait()
    }
    let waiting = Begun(sandbox, command)
    let process = try Self.begun(sandbox)
    try sandbox.signalDaemon(SIGKILL)
    try wait(for: "the helper's end") { !ProcessTree.hasMemory(process) }
    #expect(try waiting.outcome().status != 0)
  }

  @Test("while one is made others are answered, signatures by such keys among them") func others() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let key = try Self.foreignKey(sandbox)
    for use in ["sign", "jwt"] { try sandbox.must(["set", use, "--use", use], stdin: key) }
    let making = Begun(sandbox, ["set", "big", "--use", "sign", "--generate", "rsa3072"])
    let process = try ProcessTree.stopped(named: Self.helper, of: #require(sandbox.daemonPid))
    let file = try sandbox.write("a message", to: "message")
    for command in [["sign", "sign", file], ["token", "issue", "jwt", "--sub", "lamp"]] {
      let outcome = try sandbox.run(command)
      #expect(outcome.status == 0 && !outcome.stdout.isEmpty, "\(outcome)")
    }
    #expect(try sandbox.must(["get", "web"]) == "hunter2")
    // The same user's second key is refused meanwhile.
    #expect(try sandbox.run("set", "more", "--use", "sign", "--generate", "rsa3072").errors.contains("another key"))
    kill(process, SIGCONT)
    #expect(try making.outcome().status == 0)
    #expect(try sandbox.must(["show", "big"]).contains("rsa of 3072 bits"))
  }

  @Test("one that somebody else made is stored once its numbers have made a signature") func checked() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "key", "--use", "sign"], stdin: Self.foreignKey(sandbox))
    #expect(try sandbox.must(["show", "key"]).contains("rsa of 3072 bits"))
    let file = try sandbox.write("a message", to: "message")
    #expect(try sandbox.run(["sign", "key", file]).stdout.count == 384)
  }
}
