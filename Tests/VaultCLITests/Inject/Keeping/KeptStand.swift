import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

/// A vault with a pin, a template of a configuration file that holds the pin, and a keeper of the rendered file.
struct KeptStand {
  static let template = #"""
    {
      "pin": "{{ vault "pin" }}",
      "name": "Homebridge"
    }

    """#

  let sandbox: Sandbox

  init() throws {
    sandbox = try Sandbox()
    try sandbox.startDaemon(config: "idle = off\npam-service = vault-test-none\n")
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["set", "pin"], stdin: "031-45-154")
    try sandbox.write(Self.template, to: "t")
  }

  func close() { sandbox.close() }

  /// Gives the pin a new value.
  func set(_ pin: String) throws { try sandbox.must(["set", "pin", "--update"], stdin: pin) }

  /// Renders the template with these values.
  func text(_ pin: String, name: String = "Homebridge") -> String {
    Self.template.replacing(#"{{ vault "pin" }}"#, with: pin).replacing("Homebridge", with: name)
  }

  func path(_ name: String) -> String { sandbox.home + "/" + name }

  func has(_ name: String) -> Bool {
    var status = stat()
    return unsafe lstat(path(name), &status) == 0
  }

  func mode(_ name: String) throws -> mode_t {
    var status = stat()
    try #require(unsafe lstat(path(name), &status) == 0)
    return status.st_mode & 0o7777
  }

  func read(_ name: String = "out") throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

  func remove(_ name: String) { #expect(unsafe unlink(path(name)) == 0) }

  /// Replaces a file by renaming, as a careful program does.
  func replace(_ name: String = "out", with text: String) throws {
    try sandbox.write(text, to: name + ".new")
    #expect(unsafe rename(path(name + ".new"), path(name)) == 0)
  }

  /// Overwrites the content of a file in place.
  func overwrite(_ name: String = "out", with text: String) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path(name)))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }

  /// The temporary files that a keeper has left.
  var leftovers: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: sandbox.home).filter { $0.hasPrefix(".vault-new-") }
    }
  }

  func arguments(_ more: [String]) -> [String] {
    ["inject", "-i", path("t"), "-o", path("out"), "--watch"] + more
  }

  func begin(_ more: String...) throws -> Terminal { try Terminal(sandbox, arguments(more)) }

  func end(_ terminal: Terminal) throws {
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
  }

  /// Starts a keeper that stops right before one of its writings gives the file its name. At that moment the mark has
  /// just got its own name. The mark is written before and after the content, once more after a command has run, and
  /// once after the first writing.
  func stopped(before writing: Int, _ more: String..., tracing: [String] = []) throws -> Terminal {
    let when = writing == 1 ? 2 : writing * 2 + 1 + (more.contains("--exec") ? writing - 1 : 0)
    let options = ["-P", ".out.vault-mark", "-e", "inject=renameat:signal=SIGSTOP:when=\(when)"]
    return try traced(by: options + tracing, more)
  }

  func traced(by options: [String], _ more: [String]) throws -> Terminal {
    try Terminal(
      sandbox, ["-o", path("trace")] + options + [Sandbox.path(of: "vault")] + arguments(more),
      program: "/usr/bin/strace")
  }

  /// Waits until a keeper has stopped `times` times, runs `body` and resumes the keeper; returns its pid.
  func stopped(_ terminal: Terminal, times: Int = 1, _ body: () throws -> Void) throws -> Int32 {
    try wait(for: "the stop") {
      (try? read("trace").components(separatedBy: "stopped by SIGSTOP").count == times + 1) ?? false
    }
    try body()
    let pid = try keeper(of: terminal)
    kill(pid, SIGCONT)
    return pid
  }

  /// Returns the pid of the keeper that strace runs.
  func keeper(of terminal: Terminal) throws -> Int32 {
    let children = try String(contentsOfFile: "/proc/\(terminal.pid)/task/\(terminal.pid)/children", encoding: .utf8)
    return try #require(children.split(separator: " ").first.flatMap { Int32($0) })
  }

  func end(_ terminal: Terminal, traced pid: Int32) throws {
    kill(pid, SIGTERM)
    #expect(try terminal.wait() == 143)
  }
}
