import Foundation
import Testing
import VaultTesting
import VaultWire

/// vault-protocol(7) has a line for every type, method and error of the interface.
@Suite("vault-protocol(7)") struct ProtocolPageTests {
  private let interface: VarlinkDefinition
  private let page: VarlinkDefinition

  init() throws {
    interface = try VarlinkDefinition("\(VaultInterface.description)")
    let path = Repository.root.appending(path: "man/vault-protocol.7")
    page = try VarlinkDefinition(Self.definition(in: try String(contentsOf: path, encoding: .utf8)))
  }

  /// Returns the page's declarations as a definition: the displays below the name of a type or a method, and the
  /// parameters beside the name of an error.
  private static func definition(in page: String) -> String {
    var text = "interface \(VaultInterface.name)\n"
    var item = ""
    var display: [String]?
    for line in page.components(separatedBy: "\n") {
      if line.hasPrefix(".It Sy ") {
        let parts = line.dropFirst(7).components(separatedBy: " Pq ")
        text += "error \(parts[0]) (\(parts.dropFirst().first ?? ""))\n"
      } else if line.hasPrefix(".It ") || line.hasPrefix(".Sh ") {
        item = line
      } else if line.hasPrefix(".Bd ") {
        display = []
      } else if line == ".Ed", let lines = display {
        display = nil
        let content = lines.joined(separator: "\n")
        if let name = item.wholeMatch(of: /\.It Vt (\w+)/)?.output.1 {
          text += "type \(name) (\(content))\n"
        } else if let name = item.wholeMatch(of: /\.It Ic (\w+)/)?.output.1, content.hasPrefix("\(name)(") {
          text += "method \(content)\n"
        } else if content.hasPrefix("type ") {
          text += content + "\n"
        }
      } else {
        display?.append(line)
      }
    }
    return text
  }

  @Test("has every method of the interface, and no other") func methods() {
    #expect(Set(page.methods) == Set(interface.methods))
  }

  @Test("has every type, and the parameters of every method and its reply, as they are declared") func types() {
    #expect(Set(page.structs.keys) == Set(interface.structs.keys))
    for (name, fields) in interface.structs { #expect(page.structs[name] == fields, "\(name)") }
  }

  @Test("has every error with its parameters") func errors() {
    #expect(Set(page.errors.keys) == Set(interface.errors.keys))
    for (name, fields) in interface.errors { #expect(page.errors[name] == fields, "\(name)") }
  }
}
