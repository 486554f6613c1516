import Foundation
import VaultTesting

/// A person's session with the real `vault` and `vaultd`: the typed commands and their output.
///
/// A transcript is a file in Tests/Transcripts:
///
///     # a comment
///     $ a line for sh(1), run in $HOME
///     what it prints to standard output
///     ! what it prints to standard error
///     [66]
///
/// `<*>` stands for any text within a line. A backslash at the end of the last line of output says that no newline
/// comes after it, and a line with a single dot stands for an empty line. Without a number in brackets the exit code is
/// 0. An empty line ends a command's output. Behind the commands come files, each after a line `-- name --`; they are
/// put into $HOME first. $FLOOR holds the options for the cheapest allowed key derivation.
struct Transcript {
  struct Step {
    var line: Int
    var command: String
    var output = ""
    var errors = ""
    var status: Int32 = 0
  }

  let name: String
  private(set) var steps: [Step] = []
  private(set) var files: [(name: String, text: String)] = []

  static let folder = Repository.root.appending(path: "Tests/Transcripts").path

  /// The names of all transcripts.
  static let names: [String] = {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return entries.filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) }.sorted()
  }()

  init(named name: String) throws {
    self.name = name
    let text = try String(contentsOfFile: "\(Transcript.folder)/\(name).txt", encoding: .utf8)
    var isEnded = true
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.hasPrefix("-- "), line.hasSuffix(" --") {
        files.append((String(line.dropFirst(3).dropLast(3)), ""))
      } else if !files.isEmpty {
        files[files.count - 1].text += line + "\n"
      } else if line.hasPrefix("$ ") {
        steps.append(Step(line: index + 1, command: String(line.dropFirst(2))))
        isEnded = false
      } else if line.isEmpty {
        isEnded = true
      } else if !isEnded {
        steps[steps.count - 1].expect(line)
      } else if !line.hasPrefix("#") {
        throw TranscriptError(description: "\(name):\(index + 1): this belongs to no command")
      }
    }
    // The empty line before the next file, and the end of the last line of the transcript, belong to no file.
    for index in files.indices {
      while files[index].text.hasSuffix("\n\n") { files[index].text.removeLast() }
    }
  }
}

struct TranscriptError: Error, CustomStringConvertible {
  let description: String
}

extension Transcript.Step {
  fileprivate mutating func expect(_ line: Substring) {
    if line.hasPrefix("! ") {
      errors += line.dropFirst(2) + "\n"
    } else if line.first == "[", line.last == "]", let status = Int32(line.dropFirst().dropLast()) {
      self.status = status
    } else if line.hasSuffix("\\") {
      output += line.dropLast()
    } else {
      output += (line == "." ? "" : line) + "\n"
    }
  }
}

/// A text in which `<*>` stands for any part of a line.
struct Pattern {
  let text: String

  func matches(_ actual: String) -> Bool {
    let wanted = text.split(separator: "\n", omittingEmptySubsequences: false)
    let lines = actual.split(separator: "\n", omittingEmptySubsequences: false)
    return wanted.count == lines.count && zip(wanted, lines).allSatisfy { Pattern.line($0, matches: $1) }
  }

  private static func line(_ pattern: Substring, matches line: Substring) -> Bool {
    let parts = pattern.split(separator: "<*>", omittingEmptySubsequences: false)
    guard parts.count > 1 else { return pattern == line }
    guard line.hasPrefix(parts[0]) else { return false }
    var rest = line.dropFirst(parts[0].count)
    for part in parts.dropFirst().dropLast() {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return rest.hasSuffix(parts[parts.count - 1])
  }
}
