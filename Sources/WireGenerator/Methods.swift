// The generation of the methods of all interfaces: their names and the protocols that answer them.

extension Source {
  mutating func methodNames(_ definitions: [Definition]) {
    let methods = definitions.flatMap(\.methods)
    line("/// The methods that the daemon serves.")
    block("public enum MethodName: Hashable, Sendable, CaseIterable") { source in
      for method in methods { source.line("case \(method.name.caseName.escaped)") }
      source.line()
      source.line("/// The name in a call, with the interface's name.")
      source.block("public var fullName: StaticString") { source in
        source.block("switch self") { source in
          for definition in definitions {
            for method in definition.methods {
              source.line("case .\(method.name.caseName.escaped): \"\(definition.name).\(method.name)\"")
            }
          }
        }
      }
      for (property, comment, holds) in [
        (
          "needsMore", "True if the method streams replies or asks questions, and must be called with `more`.",
          \.streams
        ),
        (
          "needsUpgrade", "True if other bytes than Varlink's follow, and the method must be called with `upgrade`.",
          \.upgrades
        ),
      ] as [(String, String, KeyPath<Definition.Method, Bool>)] {
        source.line()
        source.line("/// \(comment)")
        source.block("public var \(property): Bool") { source in
          let names = methods.filter { $0[keyPath: holds] }.map { ".\($0.name.caseName.escaped)" }
          source.line("switch self {")
          source.line("case \(names.joined(separator: ", ")): true")
          source.line("default: false")
          source.line("}")
        }
      }
    }
    line()
  }

  mutating func handlers(_ definitions: [Definition]) {
    let methods = definitions.flatMap(\.methods)
    line("/// The functions that answer calls, one for each method.")
    block("public protocol MethodHandler") { source in
      source.line("/// The recipient of the answer.")
      source.line("associatedtype Caller")
      for method in methods {
        source.line()
        source.doc(method.comment)
        let name = method.name.caseName.escaped
        source.line("func \(name)(_ call: \(method.parameterType), _ frame: borrowing Frame, _ caller: Caller)")
      }
    }
    line()
    block("extension MethodHandler") { source in
      source.line("/// Reads the parameters of a call of `method`, and calls the function for it.")
      source.line("@inlinable")
      source.block(
        """
        public func handle(_ method: MethodName, _ frame: borrowing Frame, _ parameters: Frame.Node?, \
        _ caller: Caller) throws(ParameterError)
        """
      ) { source in
        source.block("switch method") { source in
          for method in methods {
            let name = method.name.caseName.escaped
            source.line("case .\(name): self.\(name)(try \(method.parameterType)(frame, parameters), frame, caller)")
          }
        }
      }
    }
  }
}

extension Definition.Method {
  /// The type of the method's parameters.
  var parameterType: String { parameters.isEmpty ? "Wire.Empty" : "Wire.\(name)Parameters" }

  /// The fields of the method's replies, or of the last reply if prompts come before it.
  var ownReply: [Definition.Field] { isConversation ? Array(reply.dropFirst(2)) : reply }
}
