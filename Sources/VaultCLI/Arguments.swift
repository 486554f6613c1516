/// The command line as it is handed to the parser.
enum Arguments {
  /// Puts the options that hold for every command where the parser looks for them, behind the command, and gives
  /// `--generate` its style when none follows it, because the parser would take an item's name for one.
  static func normalize(_ arguments: [String]) -> [String] {
    var rest = arguments[...]
    var globals: [String] = []
    while let first = rest.first {
      if first == "--json" || first == "--system" || first.hasPrefix("--socket=") {
        globals.append(first)
        rest = rest.dropFirst()
      } else if first == "--socket", rest.count > 1 {
        globals += rest.prefix(2)
        rest = rest.dropFirst(2)
      } else {
        break
      }
    }
    var result: [String] = []
    var options = true
    for (index, argument) in zip(rest.indices, rest) {
      if argument == "--" && options {
        options = false
        result += globals
        globals = []
      }
      let isBare = options && argument == "--generate"
      let next = index + 1 < rest.endIndex ? rest[index + 1] : ""
      result.append(isBare && GeneratedStyle(rawValue: next) == nil ? "--generate=password" : argument)
    }
    return result + globals
  }
}
