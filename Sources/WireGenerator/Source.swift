/// Swift source text under construction, with its indentation.
struct Source {
  private(set) var text = ""
  private var depth = 0

  /// - Parameter imports: the line that imports other modules, if there are any.
  init(_ imports: String = "") {
    line("// Generated from the .varlink files: change those instead.")
    line()
    if imports.isEmpty { return }
    line(imports)
    line()
  }

  mutating func line(_ line: String = "") {
    text += line.isEmpty ? "\n" : String(repeating: "  ", count: depth) + line + "\n"
  }

  /// Writes lines between braces, after `head`.
  mutating func block(_ head: String, _ body: (inout Source) -> Void) {
    line(head + " {")
    depth += 1
    body(&self)
    depth -= 1
    line("}")
  }

  /// Writes a doc comment, or `otherwise` if the definition has none.
  mutating func doc(_ comment: Comment, otherwise: String? = nil) {
    for line in comment.lines.isEmpty ? [otherwise].compactMap({ $0 }) : comment.lines { self.line("/// \(line)") }
  }
}
