import Foundation
import Testing
import VaultTesting
import VaultWire

@testable import VaultImport

@Suite("The program vault-import") struct ImportProgramTests {
  private typealias Stand = ImportStand

  /// A CSV file of a browser: two logins.
  private static func csv() throws -> [UInt8] {
    let file = Bundle.module.url(forResource: "import-program", withExtension: "csv", subdirectory: "Files")
    return [UInt8](try Data(contentsOf: try #require(file)))
  }

  /// The calls of an import of one file.
  private static func calls(_ content: [UInt8], format: String? = nil, parts: Int = 64) -> [UInt8] {
    Stand.call(.begin(format: format)) + Stand.file("a.csv", content, parts: parts) + Stand.call(.read)
  }

  /// Sends calls and hangs up; returns what the program says, and its exit code.
  private static func answers(to calls: [UInt8]) throws -> (replies: [String], code: Int32?) {
    let stand = try Stand()
    stand.send(calls)
    stand.hangUp()
    let replies = stand.replies()
    return (replies, stand.end())
  }

  @Test("it tells the format, each entry with as many fields as it announces, and their sums", arguments: [1, 7, 4096])
  func entries(parts: Int) throws {
    let (replies, code) = try Self.answers(to: Self.calls(try Self.csv(), parts: parts))
    #expect(code == 0)
    #expect(replies.first?.hasPrefix(#"{"format":"csv","#) == true, "\(replies)")
    let entries = replies.filter { $0.hasPrefix(#"{"entry":"login""#) }
    let fields = replies.filter { $0.hasPrefix(#"{"name":"#) }
    #expect(entries.count == 2 && fields.count >= 8, "\(replies)")
    let announced = entries.compactMap { entry in
      entry.firstMatch(of: /"count":(\d+)/).flatMap { Int($0.output.1) }
    }
    #expect(announced.reduce(0, +) == fields.count)
    #expect(replies.last == #"{"entries":2,"fields":\#(fields.count)}"#)
    let password = Data("correct horse".utf8).base64EncodedString()
    #expect(fields.count { $0.contains(#""role":"password""#) && $0.contains(password) } == 1)
  }

  @Test("a named format is taken at its word, and an unknown name or content is an error")
  func formats() throws {
    let csv = try Self.csv()
    #expect(try Self.answers(to: Self.calls(csv, format: "csv")).replies.first?.hasPrefix(#"{"format":"csv","#) == true)
    for calls in [Self.calls(csv, format: "none"), Self.calls([0, 1, 2]), Self.begin + Stand.call(.read)] {
      let (replies, code) = try Self.answers(to: calls)
      #expect(replies.count == 1 && replies[0].hasPrefix(#"{"error":"unknown","#) && code == 0, "\(replies)")
    }
    let (replies, code) = try Self.answers(to: Self.calls(csv, format: "kdbx"))
    #expect(replies.last?.hasPrefix(#"{"error":"#) == true && code == 0, "\(replies)")
  }

  @Test("a file of no known format is named, and said to be empty if it is") func unknown() {
    func failure(_ files: [Source.File]) -> ImportFailure {
      ImportProgram.unknown(Source(files) { (_) throws(ImportFailure) in nil })
    }
    let (file, empty) = (Source.File("a.bin", [0, 1]), Source.File("b.csv", []))
    #expect(failure([file]) == ImportFailure(.unknown, "`a.bin` looks like no known format"))
    #expect(failure([empty]) == ImportFailure(.damaged, "`b.csv` is empty"))
    #expect(failure([file, empty]) == ImportFailure(.unknown, "the files look like no known format"))
  }

  @Test("every cut of the calls ends it, and nothing is told of half a file") func cuts() throws {
    let calls = Self.calls(Array("name,url\n".utf8), parts: 4)
    for count in 0..<calls.count {
      let (replies, code) = try Self.answers(to: Array(calls.prefix(count)))
      #expect(replies.isEmpty && code == 65, "\(count)")
    }
  }

  private static let begin = Stand.call(.begin(format: nil))
  private static let file = Stand.call(.file(path: "a", count: 4, modified: nil))

  @Test("calls that make no sense end it") func nonsense() throws {
    let (begin, file) = (Self.begin, Self.file)
    let cases: [(name: String, calls: [UInt8])] = [
      ("no JSON", Array("hello\0".utf8)), ("no object", Array("[]\0".utf8)), ("no begin", Stand.call(.read)),
      ("two begins", begin + begin), ("no question", begin + Stand.call(.noSecret)),
      ("no question for a secret", begin + Stand.call(.secret, [1])), ("no file", begin + Stand.call(.part, [1])),
      ("a file in a file", begin + file + file), ("half a file", begin + file + Stand.call(.read)),
      ("no part", begin + file + Stand.call(.part)), ("an empty part", begin + file + Stand.call(.part, [])),
      ("a long part", begin + file + Stand.call(.part, [1, 2, 3, 4, 5])),
      ("a negative size", begin + Stand.call(.file(path: "a", count: -1, modified: nil))),
      ("a huge size", begin + Stand.call(.file(path: "a", count: .max, modified: nil))),
      ("a long path", begin + Stand.file(String(repeating: "a", count: 4097), [1])),
      ("a long frame", begin + [UInt8](repeating: 32, count: ImportCall.frameLimit + 1)),
    ]
    for (name, calls) in cases {
      let (replies, code) = try Self.answers(to: calls)
      #expect(replies.isEmpty && code == 65, "\(name): \(replies)")
    }
  }

  @Test("more bytes than the limit are refused before they come") func size() throws {
    let large = Stand.call(.file(path: "b", count: ImportCall.most.bytes - 3, modified: nil))
    let (replies, code) = try Self.answers(to: Self.begin + Stand.file("a", [1, 2, 3, 4]) + large)
    #expect(
      replies == [#"{"error":"too-large","reason":"the files have more than 512 MiB together"}"#] && code == 0)
  }

  @Test("it ends when vault leaves while it tells of entries") func leaving() throws {
    let stand = try Stand()
    let rows = (0..<100_000).map { "Name \($0),https://example.org/,ana,secret\n" }
    stand.send(Self.calls(Array(("name,url,username,password\n" + rows.joined()).utf8), parts: 1 << 20))
    #expect(stand.reply() != nil)
    stand.leave()
    #expect(stand.end() == 74)
  }

  @Test("started by hand it refuses to work, and it takes no arguments but --write and --help") func byHand() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let byHand = try sandbox.run([], program: "vault-import")
    #expect(byHand.status == 64)
    #expect(byHand.errors.hasPrefix("vault-import: it is started by vault, with a socket"), "\(byHand)")
    #expect(try sandbox.run("--write", program: "vault-import").status == 64)
    #expect(try sandbox.run("kdbx", program: "vault-import").status == 64)
    let help = try sandbox.run("--help", program: "vault-import")
    #expect(help.status == 0 && help.output.hasPrefix("usage: vault-import [--write]\n"), "\(help)")
  }

  @Test(
    "it is in its sandbox before it reads anything, with no descriptor but its socket",
    .enabled(if: Root.isAtHand, "only root may look at a process that is not dumpable"),
    .disabled(if: Sanitizer.isPresent, "a sanitizer needs calls that the sandbox refuses"))
  func confined() throws {
    let stand = try Stand(keepsTheirEnd: true)
    stand.send([UInt8(ascii: "{")])
    stand.waitUntilRead()
    func read(_ name: String) throws -> [String] {
      try String(contentsOfFile: "/proc/\(stand.pid)/\(name)", encoding: .utf8).split(separator: "\n").map(String.init)
    }
    let status = try read("status")
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "Seccomp_filters:\t1", "Threads:\t1"] {
      #expect(status.contains(line), "\(status)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(stand.pid)/fd") == ["0"])
    let limits = try read("limits")
    for (name, soft) in [
      ("Max cpu time", "600"), ("Max file size", "0"), ("Max core file size", "0"), ("Max processes", "0"),
      ("Max open files", "0"), ("Max address space", "3221225472"),
    ] {
      let line = try #require(limits.first { $0.hasPrefix(name + " ") })
      #expect(line.dropFirst(name.count).split(separator: " ").first.map(String.init) == soft, "\(line)")
    }
    stand.hangUp()
    #expect(stand.end() == 65)
  }
}
