// The generation of an interface's errors as one enumeration.

extension Source {
  /// Writes the enumeration and its names.
  ///
  /// - Parameter others: The lines of cases besides the interface's own.
  mutating func errors(of definition: Definition, as name: String, _ comment: String, others: [String] = []) {
    line("/// \(comment)")
    block("public enum \(name): Error, Hashable, Sendable") { source in
      for error in definition.errors {
        source.doc(error.comment)
        source.line("case \(error.name.caseName)\(error.payload)")
      }
      for other in others { source.line(other) }
    }
    line()
    block("extension \(name)") { source in
      source.line("/// The error's name without the interface's name; nil for an error of another interface.")
      source.block("var shortName: StaticString?") { source in
        source.block("switch self") { source in
          for error in definition.errors { source.line("case .\(error.name.caseName): \"\(error.name)\"") }
          if !others.isEmpty { source.line("default: nil") }
        }
      }
      source.line()
      source.line("/// Reads the error of that name with its parameters; nil if the interface has no such error.")
      source.line("/// Throws ``ParameterError`` when the parameters of a known error are not as defined.")
      source.block(
        "init?(_ frame: borrowing Frame, shortName name: Substring, _ parameters: Frame.Node?) throws(ParameterError)"
      ) { source in
        source.line("var fields = try Fields(frame, parameters)")
        source.block("switch name") { source in
          for error in definition.errors { source.line("case \"\(error.name)\": self = .\(error.reading)") }
          source.line("default: return nil")
        }
        source.line("try fields.finish(frame)")
      }
      source.line()
      source.writeParameters(definition, hasOthers: !others.isEmpty)
    }
    line()
  }

  private mutating func writeParameters(_ definition: Definition, hasOthers: Bool) {
    block("func writeParameters(to writer: inout JSONWriter)") { source in
      source.block("switch self") { source in
        for error in definition.errors where !error.fields.isEmpty {
          let names = error.fields.map { "let " + $0.name.property }.joined(separator: ", ")
          source.line("case .\(error.name.caseName)(\(names)):")
          for field in error.fields { source.line("  writer.field(\"\(field.name)\", \(field.name.property))") }
        }
        source.line("default: break")
      }
    }
  }
}

extension Definition.Structure {
  /// The associated values of the case.
  fileprivate var payload: String {
    if fields.isEmpty { return "" }
    let parts = fields.map { "\($0.name.property): \($0.swiftType)\($0.absent)" }
    return "(" + parts.joined(separator: ", ") + ")"
  }

  /// The expression that makes the case from its fields.
  fileprivate var reading: String {
    if fields.isEmpty { return name.caseName }
    return name.caseName + "(" + fields.map { "\($0.name.property): \($0.reading)" }.joined(separator: ", ") + ")"
  }
}
