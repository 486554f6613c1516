import Foundation
import Testing
import VaultTesting

/// The manual page man/vault.1, split into the text about each command and the text about all commands.
private struct Manual {
  let source: String
  /// The text under each `.It Cm`, with the command's words; a command may have more than one such text.
  var commands: [(heading: String, text: String)] = []
  /// The text before the first command.
  var common = ""

  static let path = Repository.root.appending(path: "man/vault.1").path

  init() throws {
    source = try String(contentsOfFile: Manual.path, encoding: .utf8)
    var isCommands = false
    for line in source.split(separator: "\n") {
      if line.hasPrefix(".Sh ") { isCommands = line == ".Sh COMMANDS" }
      if isCommands, line.hasPrefix(".It Cm ") {
        commands.append((String(line.dropFirst(7)), line + "\n"))
      } else if isCommands, !commands.isEmpty {
        commands[commands.count - 1].text += line + "\n"
      } else if !isCommands {
        common += line + "\n"
      }
    }
  }

  /// Returns the text about a command such as `slot add`.
  func text(of words: String) -> String {
    commands.filter { $0.heading == words || $0.heading.hasPrefix(words + " ") }.map(\.text).joined()
  }
}

@Suite("vault(1)") struct ManualTests {
  @Test("every command and every option is in vault(1)")
  func complete() throws {
    let manual = try Manual()
    for command in try CommandTree.dump().commands {
      let text = manual.text(of: command.words)
      #expect(!text.isEmpty, "vault \(command.words) is not in vault(1)")
      for option in command.options {
        let macro = "Fl " + option.dropFirst()
        let entries = (text + manual.common).split(separator: "\n").filter {
          $0.hasPrefix(".It ") && $0.contains(macro)
        }
        #expect(!entries.isEmpty, "vault \(command.words) \(option) is not in vault(1)")
      }
    }
  }

  @Test("vault(1) describes no command and no option that is not there")
  func truthful() throws {
    let commands = try CommandTree.dump().commands
    let options = Set(commands.flatMap(\.options))
    for command in try Manual().commands {
      #expect(commands.contains { command.heading.hasPrefix($0.words) }, "there is no vault \(command.heading)")
    }
    let source = try Manual().source
    for match in source.matches(of: /Fl -([a-z-]+)/) {
      #expect(options.contains("--" + match.output.1), "there is no --\(match.output.1)")
    }
  }

  @Test("it has the sections a page needs", arguments: ["EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"])
  func sections(name: String) throws {
    #expect(try Manual().source.contains("\n.Sh \(name)\n"))
  }

  @Test("every exit code is explained")
  func codes() throws {
    let source = try Manual().source
    for code in ["0", "64", "65", "66", "69", "70", "73", "74", "75", "77", "78", "130"] {
      #expect(source.contains("\n.It \(code)\n"), "exit code \(code) is not in vault(1)")
    }
  }

  @Test("an example fits 80 columns here, and loses no backslash in any page")
  func examples() throws {
    let folder = Repository.root.appending(path: "man")
    let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.last?.isNumber == true }
    #expect(pages.count > 5)
    for page in pages {
      var isExample = false
      for line in try String(contentsOf: folder.appendingPathComponent(page), encoding: .utf8).split(separator: "\n") {
        if line.hasPrefix(".Bd -literal") { isExample = true }
        if line == ".Ed" { isExample = false }
        guard isExample, line.first != "." else { continue }
        // The page's indentation leaves 69 columns.
        #expect(page != "vault.1" || line.replacing(#"\e"#, with: "\\").count <= 69, "\(page): \(line)")
        #expect(line.last != "\\", "\(page): \(line)")
      }
    }
  }

  @Test("mandoc finds nothing to say about it")
  func lint() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run(["-Tlint", Manual.path], program: "/usr/bin/mandoc")
    // This page need not know which other pages are installed.
    let said = (outcome.output + outcome.errors).split(separator: "\n").filter { line in
      line.contains("vault.1:") && !line.contains("referenced manual not found")
    }
    #expect(said.isEmpty, "\(said)")
    #expect(outcome.output.contains("vault.1") || outcome.status == 0, "\(outcome)")
  }

  @Test("no word of a heading is read as a macro") func headings() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let folder = Repository.root.appending(path: "man")
    let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.last?.isNumber == true }
    #expect(pages.count > 15)
    for page in pages {
      let path = folder.appendingPathComponent(page).path
      let shown = try sandbox.run(["-Tutf8", path], program: "/usr/bin/mandoc").output
      // Bold letters are printed twice, with a backspace between.
      let plain = shown.replacing(/.\u{8}/, with: "")
      for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
        guard line.hasPrefix(".Sh ") || line.hasPrefix(".Ss ") else { continue }
        let heading = line.dropFirst(4).replacing(#"\&"#, with: "").replacing("\"", with: "")
        #expect(plain.contains("\n\(heading)\n") || plain.contains("\n   \(heading)\n"), "\(page): \(heading)")
      }
    }
  }
}
