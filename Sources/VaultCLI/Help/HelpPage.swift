internal import ArgumentParser

/// The argument parser's help for a command, parsed and laid out anew.
///
/// Usage lines break between words. The help of a command with a default subcommand, such as `vault audit` with `vault
/// audit list`, includes the arguments of that subcommand. In the help of `vault` itself, the commands come before the
/// few options.
struct HelpPage {
  private typealias Section = (heading: String, lines: [Substring])

  private var overview: [Substring] = []
  private var usage: [String] = []
  private var sections: [Section] = []
  /// The advice below all sections.
  private var end: [Substring] = []

  /// Parses a help page of the parser; nil for a text that is not a help page.
  private init?(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0.hasPrefix(Self.usageMark) }) else { return nil }
    overview = Self.trimmed(lines[..<start])
    usage = [String(lines[start].dropFirst(Self.usageMark.utf8.count))]
    for line in lines[(start + 1)...] {
      if Self.isHeading(line) {
        sections.append((Self.words(line), []))
      } else if line.hasPrefix("  See '") || !end.isEmpty {
        end.append(line)
      } else if !sections.isEmpty {
        sections[sections.count - 1].lines.append(line)
      } else if !line.isEmpty {
        usage[0] += " " + line.drop { $0 == " " }
      }
    }
    for index in sections.indices { sections[index].lines = Self.trimmed(sections[index].lines[...]) }
  }

  /// Returns the help page of a command; nil if the text is not a help page.
  ///
  /// - Parameter columns: the columns of the terminal.
  static func text(_ text: String, of type: any ParsableCommand.Type, path: [String], columns: Int) -> String? {
    guard var page = HelpPage(text) else { return nil }
    if let other = type.configuration.defaultSubcommand, !page.sections.isEmpty,
      let own = HelpPage(VaultCommand.helpMessage(for: other, columns: columns))
    {
      page.take(own, of: (["vault"] + path).joined(separator: " "), other._commandName)
    }
    if type == GetCommand.self { page.dropProgramVersion() }
    if type == VaultCommand.self {
      page.sections = page.sections.filter { $0.heading != options } + page.sections.filter { $0.heading == options }
    }
    return page.laid(columns)
  }

  /// Adds the help of the default subcommand to this page.
  private mutating func take(_ own: HelpPage, of words: String, _ name: String) {
    let more = own.overview.drop { !$0.isEmpty }
    overview += more
    let start = "\(words) \(name)"
    let line = own.usage[0].hasPrefix(start) ? "\(words) [\(name)]\(own.usage[0].dropFirst(start.count))" : own.usage[0]
    usage = [line.hasSuffix(" <options>") ? line.dropLast(9) + "[<options>]" : line] + usage
    sections = own.sections + sections.filter { $0.heading != Self.options && $0.heading != Self.arguments }
  }

  /// Drops the line about the program's version, for a command that gives `--version` a value and another meaning.
  private mutating func dropProgramVersion() {
    let option = "  --version "
    for index in sections.indices {
      let lines = sections[index].lines
      guard let start = lines.firstIndex(where: { $0.hasPrefix(option) && !$0.hasPrefix("\(option)<") }) else {
        continue
      }
      let end = lines[(start + 1)...].firstIndex { !$0.hasPrefix("      ") } ?? lines.endIndex
      sections[index].lines.removeSubrange(start..<end)
    }
  }

  private func laid(_ columns: Int) -> String {
    let lines = usage.flatMap { line in UsageLine.rows(Self.words(line[...]), columns: columns - Self.usageMark.count) }
    let blank = String(repeating: " ", count: Self.usageMark.count)
    let usage = lines.enumerated().map { ($0.offset == 0 ? Self.usageMark : blank) + $0.element }
    let blocks =
      [overview.map(String.init), usage] + sections.map { [$0.heading] + $0.lines.map(String.init) }
      + [end.map(Self.words)]
    return blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
  }

  // MARK: Parts

  private static let usageMark = "USAGE: "
  private static let options = "OPTIONS:"
  private static let arguments = "ARGUMENTS:"

  private static func isHeading(_ line: Substring) -> Bool {
    line.utf8.last == UInt8(ascii: ":")
      && line.utf8.dropLast().allSatisfy { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: " ") }
      && line.utf8.first != UInt8(ascii: " ")
  }

  /// Replaces the parser's word "subcommand" in a line by "command".
  private static func words(_ line: Substring) -> String {
    let heading = "SUBCOMMANDS:"
    let text = line.hasSuffix(heading) ? line.dropLast(heading.count) + "COMMANDS:" : line
    return text.split(separator: "<subcommand>", omittingEmptySubsequences: false).joined(separator: "<command>")
  }

  private static func trimmed(_ lines: ArraySlice<Substring>) -> [Substring] {
    var lines = lines
    while lines.last?.isEmpty == true { lines.removeLast() }
    return Array(lines)
  }
}

/// The layout of a usage line.
enum UsageLine {
  /// Splits a usage line into rows of at most `columns` columns. Later rows are indented to the first argument, and an
  /// option stays together with its value.
  static func rows(_ line: String, columns: Int) -> [String] {
    let parts = parts(line)
    let command = parts.prefix { !$0.hasPrefix("[") && !$0.hasPrefix("<") }.joined(separator: " ")
    let indent = String(repeating: " ", count: min(command.count + 1, columns / 2))
    var rows = [command]
    for part in parts.dropFirst(command.isEmpty ? 0 : command.split(separator: " ").count) {
      let last = rows[rows.count - 1]
      if last.isEmpty || last == indent {
        rows[rows.count - 1] += part
      } else if last.count + 1 + part.count <= columns {
        rows[rows.count - 1] += " " + part
      } else {
        rows.append(indent + part)
      }
    }
    return rows
  }

  /// Splits a line into words; the text within brackets stays together.
  private static func parts(_ line: String) -> [String] {
    var parts = [""]
    var depth = 0
    for character in line {
      switch character {
      case "[", "<": depth += 1
      case "]", ">": depth -= 1
      case " " where depth == 0:
        if !parts[parts.count - 1].isEmpty { parts.append("") }
        continue
      default: break
      }
      parts[parts.count - 1].append(character)
    }
    return parts.filter { !$0.isEmpty }
  }
}
