/// The argument parser's messages in the style of this program.
enum UsageError {
  /// Returns the message on one line, with a lower-case first letter and no final period.
  static func message(_ text: String) -> String {
    let lines = text.split(separator: "\n").map { line in String(line.drop { $0 == " " }) }
    var message = lines.joined(separator: " ")
    while message.hasSuffix(".") { message.removeLast() }
    message = inOurWords(message)
    guard let first = message.first else { return "the command line is wrong" }
    return first.lowercased() + message.dropFirst()
  }

  /// Rewrites the parser's list of allowed words in the form of ``Words``.
  private static func inOurWords(_ message: String) -> String {
    let mark = ". Please provide one of "
    guard let place = message.firstRange(of: mark) else { return message }
    var list = String(message[place.upperBound...])
    let bullets = "the following: - "
    if list.hasPrefix(bullets) {
      list = list.dropFirst(bullets.utf8.count).split(separator: " - ").joined(separator: ", ")
    } else {
      for word in [" or ", " and "] { list = list.split(separator: word).joined(separator: ", ") }
      list.removeAll { $0 == "'" }
    }
    return "\(message[..<place.lowerBound]): give one of \(list)"
  }
}
