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

  /// Makes a key with OpenSSL, which takes less time than the helper does.
  private static func foreignKey(_ sandbox: Sandbox, bits: Int = 3072) throws -> String {
    let made = try sandbox.run(
      ["genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)"], program: "/usr/bin/openssl")
    try #require(made.status == 0, "\(made)")
    return made.output
  }

  /// A program that prints a key of which one factor is the product of two primes. All numbers fit each other, so only
  /// a signature shows the fault. The primes are the first ones of their form whose exponents can be inverted.
  private static let composing = """
    import base64, sys
    bits, swaps = int(sys.argv[1]), sys.argv[2] == "true"
    first, second, third = {3072: (65, 779, 1637), 4096: (1037, 1697, 2857)}[bits]
    part = 3 << bits // 4 - 2
    p, q, e = (part + first) * (part + second), (15 << bits // 2 - 4) + third, 65537
    if swaps: p, q = q, p
    d = pow(e, -1, (p - 1) * (q - 1))
    def size(count):
      if count < 128: return bytes([count])
      return bytes([129, count]) if count < 256 else bytes([130]) + count.to_bytes(2, "big")
    def integer(number):
      body = number.to_bytes(number.bit_length() // 8 + 1, "big")
      return bytes([2]) + size(len(body)) + body
    body = b"".join(map(integer, [0, p * q, e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p)]))
    print("-----BEGIN RSA PRIVATE KEY-----")
    print(base64.encodebytes(bytes([48]) + size(len(body)) + body).decode() + "-----END RSA PRIVATE KEY-----")
    """

  /// Makes a key of which the first factor, or the second one, is no prime.
  private static func compositeKey(_ sandbox: Sandbox, bits: Int, isSecond: Bool) throws -> String {
    let made = try sandbox.run("-c", composing, "\(bits)", "\(isSecond)", program: "/usr/bin/python3")
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

  /// A way to a signature by a large key.
  enum Way: CaseIterable {
    /// The method Sign.
    case socket
    /// The method IssueToken.
    case token
    /// An item at the ssh-agent.
    case item
    /// A key that ssh-add has handed over.
    case added

    /// True for a way through the ssh-agent.
    var isOfAgent: Bool {
      switch self {
      case .socket, .token: false
      case .item, .added: true
      }
    }
  }

  /// Puts a key where it signs on this way, and returns a request for a signature.
  private static func request(_ way: Way, _ sandbox: Sandbox) throws -> [UInt8] {
    switch way {
    case .socket:
      try sandbox.must(["set", "key", "--use", "sign"], stdin: foreignKey(sandbox))
      return Array(#"{"method":"io.vaultd.Vault.Sign","parameters":{"name":"key","value":"v"}}"#.utf8) + [0]
    case .token:
      try sandbox.must(["set", "key", "--use", "jwt"], stdin: foreignKey(sandbox, bits: 4096))
      return Array(#"{"method":"io.vaultd.Vault.IssueToken","parameters":{"name":"key","subject":"lamp"}}"#.utf8) + [0]
    case .item, .added:
      let type = sshKeyTypes["rsa3072"] ?? []
      let path = try way == .item ? sandbox.storeKey("key", type) : sandbox.makeKey("key", type)
      if way == .added { try #require(sandbox.ssh("ssh-add", ["-q", path]).status == 0) }
      let blob = try sandbox.publicBlob(path)
      return .string(.sign(blob, .login(blob, .zeros(32), algorithm: "rsa-sha2-256"), flags: 2))
    }
  }

  @Test("a lock ends a signature, and so does the end of its client", arguments: Way.allCases, [true, false])
  func signature(_ way: Way, isLocked: Bool) throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let request = try Self.request(way, sandbox)
    func join() throws -> WireClient { try way.isOfAgent ? sandbox.join() : sandbox.client() }
    var client: WireClient? = try join()
    // They are made one after the other, which takes so long that one of the processes can be stopped.
    client?.sendWithoutWaiting(Array(repeatElement(request, count: 200).joined()))
    let process = try ProcessTree.stopped(named: Self.helper, of: #require(sandbox.daemonPid))
    if isLocked { try sandbox.must(["lock"]) } else { client = nil }
    // A stopped process ends only if it is killed.
    try wait(for: "its end") { !ProcessTree.hasMemory(process) }
    _ = client?.receiveRest()
    guard !isLocked || way != .added else { return #expect(try sandbox.join().keys().isEmpty) }
    if isLocked { try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n") }
    // The next signature has its turn.
    let next = try join()
    next.send(request)
    switch way {
    case .socket: #expect(try next.reply().string("algorithm") == "PS256")
    case .token: #expect(try next.reply().string("token") != nil)
    case .item, .added: #expect(try next.code() == 14)
    }
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

  @Test(
    "one whose factors are no primes is not stored, and signs nothing where a deposit has brought it",
    arguments: [3072, 4096], [false, true])
  func composite(bits: Int, isSecond: Bool) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let composite = try Self.compositeKey(sandbox, bits: bits, isSecond: isSecond)
    func expectRefused(_ options: [String]) throws {
      let outcome = try sandbox.run(["set"] + options, stdin: Array(composite.utf8))
      #expect(outcome.status == 65, "\(options) \(outcome)")
      #expect(outcome.errors.contains("the key is damaged: its numbers make no valid signature"), "\(outcome)")
    }
    for use in [["--use", "sign"], ["--use", "jwt"], ["--use", "ssh"], ["--kind", "ssh-key"]] {
      try expectRefused(["new"] + use)
      #expect(try sandbox.run("show", "new").status == 66, "\(use)")
    }
    let key = try Self.foreignKey(sandbox)
    let file = try sandbox.write("a message", to: "message")
    for use in ["sign", "jwt"] {
      let sign = use == "sign" ? ["sign", use, file] : ["token", "issue", use, "--sub", "lamp"]
      try sandbox.must(["set", use, "--use", use], stdin: key)
      try expectRefused([use, "--update"])
      #expect(try sandbox.must(["get", use, "--field", "version"]) == "1")
      let signed = try sandbox.run(sign)
      #expect(signed.status == 0 && !signed.stdout.isEmpty, "\(signed)")
      // The daemon tries no signature by a large key that is left as a deposit.
      try sandbox.must(["deposit", use], stdin: composite)
      #expect(try sandbox.must(["get", use, "--field", "version"]) == "2")
      let failed = try sandbox.run(sign)
      #expect(failed.status != 0 && failed.stdout.isEmpty && failed.errors.contains("Bad signature"), "\(failed)")
    }
  }
}
