internal import Glibc
internal import VaultModel
internal import VaultWire

/// The list of prompts: printed as JSON lines, as tab-separated lines, or on a terminal as a table.
enum PromptReport {
  static func write(_ prompts: [Wire.KeyringPrompt], json: Bool) throws(Failure) {
    if json {
      for prompt in prompts { try Output.json(prompt) }
    } else if Output.isTerminal {
      guard !prompts.isEmpty else { return }
      var table = Table("NO", "STATE", "PROGRAM", "WANTS", "ABOUT")
      for prompt in prompts {
        table.add(
          .init("\(prompt.number)"), .init("prompt"), .init(prompt.program), .init(prompt.wish),
          .init(prompt.facts(STDOUT_FILENO)))
      }
      try Output.text(table.text())
    } else {
      for prompt in prompts {
        let fields = ["\(prompt.number)", "prompt", prompt.program, prompt.wish, "", prompt.facts(STDOUT_FILENO)]
        try Output.line(fields.map { Printable.line($0) }.joined(separator: "\t"))
      }
    }
  }
}

extension Wire.KeyringPrompt {
  /// The program, by its file or its process.
  var program: String { executable.map { Printable.text($0) } ?? "process \(pid)" }

  /// The wish of the program.
  var wish: String {
    switch task {
    case "unlock": "unlock"
    case "create": "new collection"
    case "delete": "delete"
    case "retrieve": app.map { $0.isEmpty ? "its secret" : "secret of \(Printable.line($0))" } ?? "secret of a program"
    default: Printable.text(task)
    }
  }

  func facts(_ output: Int32) -> String {
    let awaited =
      switch waitsFor {
      case "unlock": "waits for an unlock"
      case "approval": "waits for an approval"
      case "presence": "waits for presence"
      default: "asks again later"
      }
    return "\(awaited), since \(LocalTime.text(since, to: output)), process \(pid)"
  }
}
