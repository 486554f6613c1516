// The names of the definitions' parts in Swift.

extension String {
  /// The name of a property: `kdf_memory` becomes `kdfMemory`, and the ending `_ms` of
  /// a duration becomes `Milliseconds`.
  var property: String {
    let parts = (hasSuffix("_ms") ? String(dropLast(3)) + "_milliseconds" : self).split(separator: "_")
    return parts.enumerated().map { $0.offset == 0 ? String($0.element) : $0.element.capitalized }.joined()
  }

  /// The name of a case: `NoSuchItem` becomes `noSuchItem`.
  var caseName: String { prefix(1).lowercased() + dropFirst() }

  /// The name in backticks if it is a keyword of Swift.
  var escaped: String { ["for", "in", "init", "default", "is", "as", "self"].contains(self) ? "`\(self)`" : self }
}

extension Substring {
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}

extension Definition.Field {
  /// The type of the field's property.
  var swiftType: String { isSecret ? "Frame.Node?" : swiftType(of: kind) }

  private func swiftType(of kind: Definition.Kind) -> String {
    switch kind {
    case .string: "String"
    case .int: isTime ? "Int64" : "Int"
    case .bool: "Bool"
    case .named(let name): "Wire.\(name)"
    case .optional(let kind): swiftType(of: kind) + "?"
    case .array(let kind): "[\(swiftType(of: kind))]"
    case .map: "[String: String]"
    }
  }

  /// The default of a parameter for the field, which stands for an absent or empty value; empty if there is no default.
  var absent: String {
    switch kind {
    case .optional: " = nil"
    case .array: " = []"
    default: ""
    }
  }

  /// The expression that reads the field.
  var reading: String {
    let function: String
    if isSecret {
      function = "secret"
    } else {
      var kind = kind
      let isOptional =
        if case .optional(let inner) = kind {
          {
            kind = inner
            return true
          }()
        } else { false }
      let base =
        switch kind {
        case .string: "string"
        case .int: isTime ? "int64" : "int"
        case .bool: "bool"
        case .map: "map"
        case .named: "value"
        case .array(.string): "strings"
        case .array(.int): "integers"
        default: "list"
        }
      function = isOptional ? "optional" + base.prefix(1).uppercased() + base.dropFirst() : base
    }
    return "try fields.\(function)(frame, \"\(name)\")"
  }
}
