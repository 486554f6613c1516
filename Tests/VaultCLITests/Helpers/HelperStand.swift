import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

/// A vault, and other programs that find their helpers under the usual names.
final class HelperStand {
  let sandbox: Sandbox
  /// The folder of the helpers' links, which comes first in PATH.
  let links: String

  init(unlocked: Bool = true) throws {
    sandbox = try Sandbox()
    links = sandbox.root + "/links"
    do {
      try sandbox.hidePAM()
      try sandbox.startDaemon()
      try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
      try sandbox.must(["set", "web"], stdin: "hunter2")
      try FileManager.default.createDirectory(atPath: links, withIntermediateDirectories: true)
      for link in Helpers.all.flatMap({ $0.links }) {
        try FileManager.default.createSymbolicLink(
          atPath: "\(links)/\(link)", withDestinationPath: Sandbox.path(of: "vault"))
      }
      try sandbox.write("[user]\nname = Ana\nemail = ana@example.org\n[init]\ndefaultBranch = main\n", to: ".gitconfig")
      if !unlocked { try sandbox.must(["lock"]) }
    } catch {
      sandbox.close()
      throw error
    }
  }

  deinit { close() }

  func close() { sandbox.close() }

  /// The environment of the other programs: none of the machine's settings, and nobody to ask.
  var environment: [String: String?] {
    [
      "PATH": links + ":" + (sandbox.environment["PATH"] ?? ""), "GIT_CONFIG_NOSYSTEM": "1", "GIT_ASKPASS": nil,
      "SSH_ASKPASS": nil, "GIT_TERMINAL_PROMPT": "0",
    ]
  }

  /// Runs another program, or a helper's link.
  @discardableResult
  func run(
    _ program: String, _ arguments: [String], stdin: String = "", _ changes: [String: String?] = [:]
  ) throws -> Outcome {
    let path = FileManager.default.fileExists(atPath: "\(links)/\(program)") ? "\(links)/\(program)" : program
    return try sandbox.run(
      arguments, program: path, stdin: Array(stdin.utf8), environment: environment.merging(changes) { $1 })
  }

  /// Runs another program, which must succeed, and returns its standard output.
  @discardableResult
  func must(
    _ program: String, _ arguments: [String], stdin: String = "", _ changes: [String: String?] = [:]
  ) throws -> String {
    let outcome = try run(program, arguments, stdin: stdin, changes)
    try #require(outcome.status == 0, "\(program) \(arguments.joined(separator: " ")): \(outcome)")
    return outcome.output
  }

  /// Runs `vault helper` with these words.
  func helper(_ words: String..., stdin: String = "", environment: [String: String?] = [:]) throws -> Outcome {
    try sandbox.run(["helper"] + words, stdin: Array(stdin.utf8), environment: environment)
  }

  /// Returns the names of the items in a folder.
  func names(_ folder: String) throws -> [String] {
    try sandbox.must(["list", folder]).split(separator: "\n").map(String.init)
  }

  /// Returns the number of an item's current version.
  func version(_ name: String) throws -> String { try sandbox.must(["get", name, "--field", "version"]) }
}

/// Programs that not every machine has, and the places where the tests look for them.
enum OtherProgram {
  /// The folder that `make test-deps` fills from PyPI.
  static let python = Repository.root.appending(path: ".build/python").path

  /// Returns the path of a program from PyPI or in the tests' own PATH; nil if there is none.
  static func path(_ name: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return ([python + "/bin"] + path.split(separator: ":").map(String.init)).map { "\($0)/\(name)" }
      .first { unsafe access($0, X_OK) == 0 }
  }

  /// Returns true if a package from PyPI is installed.
  static func hasPackage(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(python)/\(name)") }

  static func why(_ name: String) -> Comment { "needs \(name), which is not here; see `make test-deps`" }
}
