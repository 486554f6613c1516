import Foundation

/// The program that writes the Swift source of the two interfaces that the daemon serves. The build runs it.
@main enum Generator {
  static func main() {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      guard arguments.count == 3 else {
        throw Malformed("usage: WireGenerator FOLDER io.vaultd.Vault.varlink org.varlink.service.varlink")
      }
      for (name, text) in try files(vault: read(arguments[1]), service: read(arguments[2])) {
        try Data(text.utf8).write(to: URL(filePath: "\(arguments[0])/\(name)"))
      }
    } catch {
      FileHandle.standardError.write(Data("WireGenerator: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func read(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
  }

  /// The texts of the generated files by their names.
  static func files(vault: String, service: String) throws -> [String: String] {
    let (vault, service) = (Interface(vault, try Definition(vault)), Interface(service, try Definition(service)))
    let all = [vault, service]
    return [
      "WireTypes.swift": types(all.map(\.definition)),
      "WireMethods.swift": methods(all.map(\.definition)),
      "Faults.swift": faults(vault.definition, service.definition),
      "Interfaces.swift": interfaces(vault, service),
    ]
  }

  /// A definition with its text.
  private struct Interface {
    let text: String
    let definition: Definition

    init(_ text: String, _ definition: Definition) { (self.text, self.definition) = (text, definition) }
  }

  private static func types(_ definitions: [Definition]) -> String {
    var source = Source("public import VaultBytes")
    let types = definitions.flatMap(\.types)
    let secretive = Set(types.filter { $0.fields.contains(where: \.isSecret) }.map(\.name))
    source.block("extension Wire") { source in
      for type in types {
        source.structure(type.name, type.fields, type.comment, otherwise: "The type `\(type.name)`.", secretive)
      }
      for method in definitions.flatMap(\.methods) {
        if !method.parameters.isEmpty {
          let comment = "The parameters of `\(method.name)`."
          source.structure("\(method.name)Parameters", method.parameters, Comment(), otherwise: comment, secretive)
        }
        if !method.ownReply.isEmpty {
          let comment = "The \(method.isConversation ? "last reply" : "reply") of `\(method.name)`."
          source.structure("\(method.name)Reply", method.ownReply, Comment(), otherwise: comment, secretive)
        }
      }
    }
    return source.text
  }

  private static func methods(_ definitions: [Definition]) -> String {
    var source = Source("public import VaultBytes")
    source.methodNames(definitions)
    source.handlers(definitions)
    return source.text
  }

  private static func faults(_ vault: Definition, _ service: Definition) -> String {
    var source = Source("internal import VaultBytes")
    source.errors(
      of: vault, as: "Fault", "A call failed: one case per error of \(vault.name).",
      others: [
        "/// The call itself was wrong: an error of \(service.name).", "case service(ServiceFault)",
        "/// An error that this program does not know.", "case unknown(String)",
      ])
    source.errors(of: service, as: "ServiceFault", "The errors of \(service.name): the call itself was wrong.")
    return source.text
  }

  private static func interfaces(_ vault: Interface, _ service: Interface) -> String {
    var source = Source()
    for (name, interface) in [("VaultInterface", vault), ("ServiceInterface", service)] {
      source.line("/// The interface \(interface.definition.name), which the daemon serves.")
      source.block("public enum \(name)") { source in
        source.line("/// The interface's name.")
        source.line("public static let name = \"\(interface.definition.name)\"")
        source.line("/// The interface's definition, with the comments.")
        source.line("public static let description: StaticString = #\"\"\"")
        for line in interface.text.split(separator: "\n", omittingEmptySubsequences: false) {
          source.line(String(line))
        }
        source.line("\"\"\"#")
      }
      source.line()
    }
    return source.text
  }
}
