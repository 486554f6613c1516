/// The argument parser's words in the form of ours.
enum UsageError {
  /// One line, with its first letter small and no final stop.
  static func message(_ text: String) -> String {
    let lines = text.split(separator: "\n").map { line in String(line.drop { $0 == " " }) }
    var message = lines.joined(separator: " ")
    while message.hasSuffix(".") { message.removeLast() }
    guard let first = message.first else { return "the command line is wrong" }
    return first.lowercased() + message.dropFirst()
  }
}
