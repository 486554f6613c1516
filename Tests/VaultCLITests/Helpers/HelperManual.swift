import Foundation
import VaultTesting

/// The examples of man/vault-helpers.7, which tests run or write into other programs' settings.
struct HelperManual {
  private let examples: [(section: String, text: String)]

  static let path = Repository.root.appending(path: "man/vault-helpers.7").path

  init() throws {
    var (section, example): (String, String?) = ("", nil)
    var examples: [(section: String, text: String)] = []
    for line in try String(contentsOfFile: Self.path, encoding: .utf8).split(separator: "\n") {
      if line.hasPrefix(".Ss ") { section = String(line.dropFirst(4)) }
      if line.hasPrefix(".Bd -literal") {
        example = ""
      } else if line == ".Ed" {
        example.map { examples.append((section, $0)) }
        example = nil
      } else if let text = example {
        example = text + line.replacing(#"\e"#, with: "\\") + "\n"
      }
    }
    self.examples = examples
  }

  /// Returns a protocol's example that contains `part`, with the paths of the installed programs replaced by those of
  /// the tests.
  static func example(_ section: String, _ part: String, in stand: HelperStand) throws -> String {
    guard let text = try HelperManual().examples.first(where: { $0.section == section && $0.text.contains(part) })?.text
    else { throw SandboxError("vault-helpers(7), \(section), has no example with \(part)") }
    return text.replacing("/usr/libexec/vault/bin", with: stand.links)
      .replacing("/usr/bin/vault", with: Sandbox.path(of: "vault"))
  }

  /// The lines of all examples.
  var lines: [String] { examples.flatMap { $0.text.split(separator: "\n").map(String.init) } }
}
