internal import VaultBytes
internal import VaultWire

/// The text that the user's command reads: one JSON object on one line.
enum CommandQuestion {
  static func json(_ question: Question) -> SecretBuffer {
    var writer = JSONWriter()
    writer.beginObject()
    text(&writer, "about", question.inquiry.about)
    let (style, answers) = Self.style(of: question.kind)
    text(&writer, "style", style)
    writer.key("system")
    writer.bool(question.isSystem)
    text(&writer, "title", question.title)
    list(&writer, "facts", question.factsAndTerms)
    if let words = question.words { text(&writer, "words", words) }
    text(&writer, "prompt", question.prompt)
    list(&writer, "answers", answers)
    writer.key("inquiry")
    question.inquiry.write(to: &writer)
    writer.endObject()
    return line(writer)
  }

  static func json(_ notice: Notice) -> SecretBuffer {
    var writer = JSONWriter()
    writer.beginObject()
    text(&writer, "about", "notice")
    text(&writer, "title", notice.title)
    text(&writer, "text", notice.text)
    writer.key("urgent")
    writer.bool(notice.isUrgent)
    writer.endObject()
    return line(writer)
  }

  /// The word for a kind of question, and the words that may answer it; no words for a typed line and for a question
  /// that wants no answer.
  private static func style(of kind: Question.Kind) -> (String, [String]) {
    switch kind {
    case .secret: ("secret", [])
    case .visible: ("visible", [])
    case .choice: ("choice", ["yes", "no"])
    case .approval(let session): ("approval", ["once"] + (session ? ["session"] : []) + ["always", "deny"])
    case .presence: ("presence", [])
    }
  }

  private static func text(_ writer: inout JSONWriter, _ key: StaticString, _ value: String) {
    writer.key(key)
    writer.string(value)
  }

  private static func list(_ writer: inout JSONWriter, _ key: StaticString, _ values: [String]) {
    writer.key(key)
    writer.beginArray()
    for value in values { writer.string(value) }
    writer.endArray()
  }

  private static func line(_ writer: borrowing JSONWriter) -> SecretBuffer {
    var line = writer.withBytes { SecretBuffer(copying: $0) }
    line.append(UInt8(ascii: "\n"))
    return line
  }
}
