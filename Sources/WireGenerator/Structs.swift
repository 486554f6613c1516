// The generation of types, parameters and replies.

extension Source {
  /// Writes the type `Wire.NAME` with these fields; `secretive` are the names of the types that have secrets.
  mutating func structure(
    _ name: String, _ fields: [Definition.Field], _ comment: Comment, otherwise: String, _ secretive: Set<String>
  ) {
    doc(comment, otherwise: otherwise)
    block("public struct \(name): Hashable, WireValue") { source in
      for field in fields {
        source.doc(field.comment)
        source.line("public \(field.isSecret ? "let" : "var") \(field.name.property.escaped): \(field.swiftType)")
      }
      source.line()
      source.initializer(fields)
      source.line()
      source.reader(fields)
      source.line()
      source.writer(fields, secretive)
    }
    line()
  }

  private mutating func initializer(_ fields: [Definition.Field]) {
    let plain = fields.filter { !$0.isSecret }
    let parameters = plain.map { field in
      "\(field.name.property.escaped): \(field.swiftType)\(field.absent)"
    }
    line("/// Makes the value without its secrets; members that are left out are absent.")
    block("public init(\(parameters.joined(separator: ", ")))") { source in
      for field in fields {
        let name = field.name.property
        source.line("self.\(name) = \(field.isSecret ? "nil" : name.escaped)")
      }
    }
  }

  private mutating func reader(_ fields: [Definition.Field]) {
    block("public init(_ frame: borrowing Frame, _ node: Frame.Node?) throws(ParameterError)") { source in
      source.line("var fields = try Fields(frame, node)")
      for field in fields { source.line("\(field.name.property.escaped) = \(field.reading)") }
      source.line("try fields.finish(frame)")
    }
  }

  private mutating func writer(_ fields: [Definition.Field], _ secretive: Set<String>) {
    let secrets = fields.filter(\.isSecret)
    let holder = fields.first { secretive.contains($0.kind.typeName ?? "") }
    let plain = fields.filter { !$0.isSecret }
    func write(_ field: Definition.Field, _ source: inout Source) {
      // The writer's parameter has the name `writer` already.
      let property = field.name == "writer" ? "self.writer" : field.name.property.escaped
      source.line("writer.field(\"\(field.name)\", \(property))")
    }
    if !secrets.isEmpty { line("/// Writes the value without its secret.") }
    block("public func write(to writer: inout JSONWriter)") { source in
      source.line("writer.beginObject()")
      for field in plain { write(field, &source) }
      source.line("writer.endObject()")
    }
    guard !secrets.isEmpty || holder != nil else { return }
    line()
    line("/// Writes the value with `secret`, which must be UTF-8 if there is no field for other bytes.")
    block("public func write(to writer: inout JSONWriter, secret: RawSpan)") { source in
      source.line("writer.beginObject()")
      for field in plain {
        if field.name == holder?.name {
          source.line("writer.key(\"\(field.name)\")")
          source.line("\(field.name.property.escaped).write(to: &writer, secret: secret)")
        } else {
          write(field, &source)
        }
      }
      if let first = secrets.first {
        let function = secrets.count > 1 ? "content" : "text"
        source.line("writer.\(function)(secret, as: \"\(first.name)\")")
      }
      source.line("writer.endObject()")
    }
  }
}

extension Definition.Kind {
  /// The name of the type, if the kind is a named type itself.
  var typeName: String? { if case .named(let name) = self { name } else { nil } }
}
