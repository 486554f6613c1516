/// The argument parser's words in the form of ours.
enum UsageError {
  /// One line, with its first letter small and no final stop.
  static func message(_ text: String) -> String {
    let lines = text.split(separator: "\n").map { line in String(line.drop { $0 == " " }) }
    var message = lines.joined(separator: " ")
    while message.hasSuffix(".") { message.removeLast() }
    message = inOurWords(message)
    guard let first = message.first else { return "the command line is wrong" }
    return first.lowercased() + message.dropFirst()
  }

  /// The parser's list of the words that there are, in the form that ``Words`` has.
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
    return "\(message[..<place.lowerBound]): it is one of \(list)"
  }
}
