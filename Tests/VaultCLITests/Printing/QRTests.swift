import Foundation
import Glibc
import Testing
import VaultTesting

/// A QR code as drawn on a terminal, turned into a picture.
private struct DrawnCode {
  /// Rows of modules, true for a black one; each line of text holds two rows.
  private(set) var rows: [[Bool]] = []

  private static let colours = "\u{1B}[38;5;16;48;5;231m"
  private static let end = "\u{1B}[0m"

  /// - Throws: if anything is drawn without explicit colors, which would look different on another terminal.
  init(_ text: String) throws {
    for line in text.replacingOccurrences(of: "\r\n", with: "\n").split(separator: "\n") {
      try #require(line.hasPrefix(Self.colours) && line.hasSuffix(Self.end), "\(line)")
      let blocks = line.dropFirst(Self.colours.count).dropLast(Self.end.count)
      try #require(blocks.allSatisfy { "█▀▄ ".contains($0) })
      rows.append(blocks.map { "█▀".contains($0) })
      rows.append(blocks.map { "█▄".contains($0) })
    }
  }

  /// A portable bitmap with eight points per module.
  var bitmap: String {
    let scale = 8
    let lines = rows.flatMap { row in
      let line = row.map { String(repeating: $0 ? "1" : "0", count: scale) }.joined()
      return [String](repeating: line, count: scale)
    }
    return "P1\n\(rows[0].count * scale) \(rows.count * scale)\n\(lines.joined(separator: "\n"))\n"
  }

  /// Returns the text that a scanner reads from the code.
  func read(_ sandbox: Sandbox) throws -> String {
    let file = try sandbox.write(bitmap, to: "code.pbm")
    // Take the raw bytes: a scanner only guesses their encoding.
    let outcome = try sandbox.run(
      ["--quiet", "--raw", "--oneshot", "-Sbinary", "-Sdisable", "-Sqrcode.enable", file], program: "/usr/bin/zbarimg")
    try #require(outcome.status == 0, "\(outcome)")
    return outcome.output
  }
}

@Suite("QR codes") struct QRTests {
  @Test(
    "a scanner reads from the terminal what joins the network, or makes the codes",
    arguments: [
      (["--kind", "wifi", "--attr", "ssid=Ana;s net"], "correct horse", "WIFI:T:WPA;S:Ana\\;s net;P:correct horse;;"),
      (
        ["--kind", "wifi", "--attr", "ssid=Gäste", "--attr", "security=WPA3", "--attr", "hidden=true"],
        "längeres Kennwort", "WIFI:T:SAE;S:Gäste;P:längeres Kennwort;H:true;;"
      ),
      (["--kind", "totp"], "jbsw y3dp ehpk 3pxp", "otpauth://totp/item?secret=JBSWY3DPEHPK3PXP"),
      (
        ["--kind", "totp"], "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQ&counter=5",
        "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQ&counter=5"
      ),
      (
        ["--kind", "totp"], "otpauth://totp/" + String(repeating: "x", count: 400) + "?secret=GEZDGNBVGY3TQOJQ",
        "otpauth://totp/" + String(repeating: "x", count: 400) + "?secret=GEZDGNBVGY3TQOJQ"
      ),
    ])
  func read(options: [String], value: String, expected: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "item"] + options, stdin: value)
    let piped = try DrawnCode(try sandbox.must(["get", "item", "--qr"]))
    #expect(try piped.read(sandbox) == expected)
    let terminal = try Terminal(sandbox, ["-c", "stty cols 200; exec vault get item --qr"], program: "/bin/sh")
    #expect(try terminal.wait() == 0)
    #expect(try DrawnCode(terminal.screen).rows == piped.rows)
  }

  @Test("around the code is a quiet zone of four light modules") func quietZone() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run([], program: "vault-qr", stdin: Array("text".utf8))
    let rows = try DrawnCode(outcome.output).rows
    // The smallest QR code, and one more row that fills the last line.
    #expect(rows.count == 30 && rows.allSatisfy { $0.count == 29 })
    for (y, row) in rows.enumerated() {
      for (x, isDark) in row.enumerated() where !(4..<25).contains(x) || !(4..<25).contains(y) { #expect(!isDark) }
    }
    #expect(rows[4][4...10].allSatisfy { $0 } && rows[4][18...24].allSatisfy { $0 })
  }

  @Test("a terminal that is too narrow for it is told so, and gets no part of it") func narrow() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "net", "--kind", "wifi", "--attr", "ssid=net"], stdin: "correct horse")
    let width = try DrawnCode(try sandbox.must(["get", "net", "--qr"])).rows[0].count
    for (columns, status) in [(width - 1, 69), (width, 0)] as [(Int, Int32)] {
      let terminal = try Terminal(
        sandbox, ["-c", "stty cols \(columns); exec vault get net --qr"], program: "/bin/sh")
      #expect(try terminal.wait() == status, "\(terminal.screen)")
      if status == 69 {
        #expect(
          terminal.screen == "vault: the terminal is too narrow for the QR code; widen it, or zoom out\r\n")
      }
    }
  }

  @Test("what draws leaves no core file, and ends with what has started it, though nobody takes the code")
  func ends() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let long = "otpauth://totp/" + String(repeating: "x", count: 400) + "?secret=GEZDGNBVGY3TQOJQ"
    try sandbox.must(["set", "code", "--kind", "totp"], stdin: long)
    let pipe = sandbox.home + "/pipe"
    try #require(unsafe mkfifo(pipe, 0o600) == 0)
    // The pipe is smaller than the code, and nobody reads it.
    let end = unsafe open(pipe, O_RDWR | O_CLOEXEC)
    defer { close(end) }
    // 1031 is F_SETPIPE_SZ, which glibc declares for _GNU_SOURCE only.
    let size = fcntl(end, 1031, Int32(1024))
    // The shell leads the session, so that the terminal does not hang up while the shell runs.
    let shell = try Terminal(
      sandbox, ["-c", "ulimit -S -c 1; vault get code --qr >\(pipe); echo ended; read word"], program: "/bin/sh")
    var held: Int32 = 0
    while unsafe held < size && ioctl(end, UInt(FIONREAD), &held) == 0 {}
    let drawing = try #require(ProcessTree.processes(named: "vault-qr", of: shell.pid).first)
    let client = try #require(ProcessTree.processes(named: "vault", of: shell.pid).first)
    let limits = try String(contentsOfFile: "/proc/\(drawing)/limits", encoding: .utf8)
    #expect(limits.contains(#/Max core file size +0 /#), "\(limits)")
    kill(client, SIGKILL)
    try shell.expect("ended")
    while ProcessTree.hasMemory(drawing) {}
    shell.type("")
    try shell.wait()
  }

  @Test("without the program that draws, it says what is missing") func missing() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "net", "--kind", "wifi", "--attr", "ssid=net"], stdin: "correct horse")
    let own = sandbox.home + "/vault"
    let copy = "ln \(Sandbox.path(of: "vault")) \(own) 2>/dev/null || cp \(Sandbox.path(of: "vault")) \(own)"
    try #require(try sandbox.run(["-c", copy], program: "/bin/sh").status == 0)
    let outcome = try sandbox.run(["get", "net", "--qr"], program: own)
    #expect(outcome.status == 69 && outcome.output.isEmpty)
    #expect(
      outcome.errors == "vault: vault-qr is not installed below libexec, nor beside vault; install it\n", "\(outcome)")
    try sandbox.write("", to: "vault-qr")
    let barred = try sandbox.run(["get", "net", "--qr"], program: own)
    let words = "/vault-qr is not executable; make it executable, or install it again\n"
    #expect(barred.status == 69 && barred.errors.hasSuffix(words), "\(barred)")
  }

  @Test("the program that draws takes a text on standard input, no argument, and no more than a code holds")
  func program() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    func status(_ arguments: [String], _ count: Int) throws -> Int32 {
      try sandbox.run(arguments, program: "vault-qr", stdin: [UInt8](repeating: 120, count: count)).status
    }
    #expect(try status([], 2953) == 0)
    for count in [0, 2954, 5000, 100_000] { #expect(try status([], count) == 65) }
    #expect(try status(["text"], 4) == 64)
    #expect(try status(["--help"], 0) == 0)
    let terminal = try Terminal(sandbox, [], program: "vault-qr")
    #expect(try terminal.wait() == 64)
  }
}
