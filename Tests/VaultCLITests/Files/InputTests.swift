import Foundation
import Glibc
import Testing
import VaultBytes
import VaultClient
import VaultWire

@testable import VaultCLI

/// Runs `body` with a descriptor open at the beginning of a file that holds `bytes`.
private func withDescriptor<R: ~Copyable>(_ bytes: [UInt8], _ body: (Int32) throws -> R) throws -> R {
  let path = NSTemporaryDirectory() + "/vault-input-\(UUID().uuidString)"
  try Data(bytes).write(to: URL(fileURLWithPath: path))
  defer { try? FileManager.default.removeItem(atPath: path) }
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  defer { close(descriptor) }
  return try body(descriptor)
}

extension SecretBuffer {
  fileprivate borrowing func text() -> String {
    withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      return String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
  }
}

@Suite("Input") struct InputTests {
  private func lines(_ text: String, limit: Int = 1 << 20) throws -> [String] {
    try withDescriptor(Array(text.utf8)) { descriptor in
      var lines = InputLines(descriptor, limit: limit)
      var result: [String] = []
      while let line = try lines.next() { result.append(line.text()) }
      #expect(lines.number == result.count)
      return result
    }
  }

  @Test("lines end with a newline, a carriage return and one, or the input")
  func endings() throws {
    #expect(try lines("") == [])
    #expect(try lines("a") == ["a"])
    #expect(try lines("a\n") == ["a"])
    #expect(try lines("a\r\nb\r\n") == ["a", "b"])
    #expect(try lines("\n\na\n") == ["", "", "a"])
    #expect(try lines("a\rb\n") == ["a\rb"])
    #expect(try lines("\r") == [""])
  }

  @Test("lines longer than one read, and many in one read, come whole")
  func long() throws {
    let long = (1...5).map { String(repeating: "\($0)", count: $0 * 50_000) }
    #expect(try lines(long.joined(separator: "\n")) == long)
    let many = (0..<20_000).map(String.init)
    #expect(try lines(many.joined(separator: "\n") + "\n") == many)
  }

  @Test("a line that never ends is refused with its number")
  func endless() throws {
    #expect(throws: Failure(.invalid, "line 2 of standard input is longer than 100 bytes")) {
      try lines("a\n" + String(repeating: "x", count: 200_000), limit: 100)
    }
  }

  @Test("a file is read to its end, byte for byte, up to a limit")
  func all() throws {
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let read = try withDescriptor(bytes) { try FileInput.readAll($0, limit: 200_000, name: "x") }
    let same = read.withBytes { read in
      let read = Span<UInt8>(_bytes: read)
      return read.count == bytes.count && read.indices.allSatisfy { read[$0] == bytes[$0] }
    }
    #expect(same)
    #expect(throws: Failure.self) {
      _ = try withDescriptor(bytes) { _ = try FileInput.readAll($0, limit: 199_999, name: "x") }
    }
  }

  @Test(
    "one line break is behind a line of text, and none behind several lines, controls or what is no text",
    arguments: [
      ("a\n", 1), ("a\r\n", 2), ("\n", 1), ("\r\n", 2), ("é 😀\n", 1), ("", 0), ("a", 0), ("a\r", 0), ("a\n\n", 0),
      ("a\nb\n", 0), ("a\rb\n", 0), ("a\tb\n", 0), ("\u{7F}\n", 0), ("\u{85}\n", 0), ("\u{1B}\n", 0), ("a\r\r\n", 0),
    ])
  func finalBreak(text: String, count: Int) {
    #expect(unsafe FinalBreak.count(in: Array(text.utf8).span.bytes) == count)
  }

  @Test("no line break is behind what is not UTF-8") func finalBreakOfBytes() {
    #expect(unsafe FinalBreak.count(in: ([0xFF, 0x0A] as [UInt8]).span.bytes) == 0)
  }

  private func type(_ keys: String, edits: Bool = true) -> (text: String, step: TypedLine.Step) {
    var line = TypedLine(edits: edits)
    var step = TypedLine.Step.more
    for byte in keys.utf8 where step == .more { step = line.take(byte) }
    return (line.finish().text(), step)
  }

  @Test("typing is edited as at any prompt")
  func editing() {
    #expect(type("abc\n") == ("abc", .done))
    #expect(type("abc\r") == ("abc", .done))
    #expect(type("abx\u{7F}c\n").text == "abc")
    #expect(type("ab\u{8}\u{8}\u{8}c\n").text == "c")
    #expect(type("aé\u{7F}b\n").text == "ab")
    #expect(type("a鍵\u{7F}\u{7F}b\n").text == "b")
    #expect(type("nonsense\u{15}abc\n").text == "abc")
    #expect(type("one two\u{17}three\n").text == "one three")
    #expect(type("one  two \t\u{17}\u{17}\u{17}é\n").text == "é")
    #expect(type("\u{4}") == ("", .end))
    #expect(type("abc\u{4}") == ("abc", .done))
    #expect(type("abc").step == .more)
    // If the kernel edits the line, a control character that arrives is meant as input.
    #expect(type("a\u{15}b\u{7F}\n", edits: false).text == "a\u{15}b\u{7F}")
  }
}
