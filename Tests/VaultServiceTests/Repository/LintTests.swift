import Foundation
import Testing
import VaultTesting

@Suite("Tests/lint.py") struct LintTests {
  /// Runs it over a folder that holds one file.
  ///
  /// - Returns: Its exit code, and its complaints without the path of the folder.
  private func complaints(of name: String, _ text: String) throws -> (status: Int32, lines: [String]) {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.write(text, to: name)
    let program = Repository.root.appending(path: "Tests/lint.py").path
    let outcome = try sandbox.run(["-B", program, sandbox.home], program: "/usr/bin/python3")
    try #require(outcome.stderr.isEmpty, "\(outcome)")
    let output = outcome.output.replacing(sandbox.home + "/", with: "")
    return (outcome.status, output.split(separator: "\n").map(String.init))
  }

  /// A clause that opens no comment. It does not follow on slashes here, because the lint reads this file, too.
  private static let clause = "What was done."
  private static let skip = "sd_bus_message_skip"
  private static let status = "fstat"

  @Test("it names each line that it complains of, and fails") func bad() throws {
    let found = try complaints(
      of: "Bad.swift",
      """
      // \(Self.clause)
      /// \(Self.clause)
        let a = 1  // \(Self.clause)
      /// A sentence.
      ///
      /// \(Self.clause)
      let b = "\(String(repeating: "b", count: 111))"
      unsafe \(Self.skip)(message, nil)

      """)
    #expect(found.status == 1)
    let bare = "the comment opens with a bare clause:"
    #expect(
      found.lines == [
        "Bad.swift:1: \(bare) // \(Self.clause)", "Bad.swift:3: \(bare) let a = 1  // \(Self.clause)",
        "Bad.swift:6: \(bare) /// \(Self.clause)", "Bad.swift:7: 121 columns, of 120 at most",
        "Bad.swift:8: \(Self.skip)(3) takes a step for each byte",
      ])
  }

  @Test("a file that asks for a file's status imports CLinux, because a build must not depend on its order")
  func status() throws {
    let uses = "_ = unsafe \(Self.status)(0, &a)"
    #expect(
      try complaints(of: "Bad.swift", "import Glibc\n\n\(uses)").lines == [
        "Bad.swift: stat(2) needs an import of CLinux"
      ])
    #expect(try complaints(of: "Good.swift", "internal import CLinux\nimport Glibc\n\n\(uses)").status == 0)
    #expect(try complaints(of: "Good.swift", "import Glibc\n\n// \(uses)\n").status == 0)
  }

  @Test("it knows the marks of comments in every file that people write") func marks() throws {
    let clause = Self.clause
    let bad: [(name: String, text: String, line: Int)] = [
      ("bad.c", "/* \(clause) */", 1), ("bad.h", "int a; /* \(clause) */", 1),
      ("bad.c", "/* A sentence.\n *\n * \(clause) */", 3), ("bad.c", "/* A sentence.\n\n   \(clause) */", 3),
      ("bad.py", "def a():\n    \"\"\"\(clause)\"\"\"", 2), ("bad.sh", "#!/bin/sh\n# \(clause)", 2),
      ("Makefile", "a:\n\ttrue # \(clause)", 2), ("bad.service", "[Unit]\n# A sentence.\n#\n# \(clause)", 4),
      ("bad.varlink", "type A (\n  # \(clause)\n  b: string\n)", 2),
    ]
    for (name, text, line) in bad {
      let found = try complaints(of: name, text + "\n")
      #expect(found.status == 1 && found.lines.count == 1, "\(name): \(found.lines)")
      #expect(found.lines.allSatisfy { $0.hasPrefix("\(name):\(line): the comment opens with a bare clause: ") })
    }
  }

  @Test("it says nothing of good lines, nor of files that nobody writes by hand") func good() throws {
    let good = """
      // A sentence goes on in the next line, and says there
      // what was done. Whatever is not at the beginning of a paragraph, too.
      let b = "\(String(repeating: "b", count: 110))"
      // \(Self.skip)(3) takes a step for each byte.
      try unsafe message.skip()  // In what was done.

      """
    let output = "// \(Self.clause)\n" + String(repeating: "b", count: 121)
    let help = "let help = #\"\"\"\n\n  \(Self.clause)\n  \"\"\"#\n"
    for (name, text) in [("Good.swift", good), ("Help.swift", help), ("output.txt", output)] {
      let found = try complaints(of: name, text)
      #expect(found.status == 0 && found.lines.isEmpty, "\(name): \(found.lines)")
    }
  }
}
