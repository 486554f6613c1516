import Testing
import VaultBytes
import VaultWire

@testable import VaultAgent

@Suite struct AssuanTests {
  /// Describes the replies read from `text` in words; `!` stands for a reply that is not understood and ends the
  /// reading.
  private func words(_ text: String, split: Int? = nil) -> [String] {
    var reader = AssuanReader()
    var words: [String] = []
    let bytes = Array(text.utf8)
    for part in split.map({ [bytes[..<$0], bytes[$0...]] }) ?? [bytes[...]] {
      unsafe reader.append(Array(part).span.bytes)
      do throws(AssuanError) {
        while let reply = try reader.next() {
          switch reply {
          case .ok: words.append("ok")
          case .failed(let code): words.append("failed \(code)")
          case .data(let data):
            words.append(
              "data "
                + data.withBytes { bytes in
                  let bytes = Span<UInt8>(_bytes: bytes)
                  return String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
                })
          case .other: words.append("other")
          }
        }
      } catch { return words + ["!"] }
    }
    return words
  }

  @Test func `replies are read however they are cut`() {
    let text = "OK Pleased to meet you\n# word\nS PASSPHRASE_FROM_CACHE\nD a%25b%0a\nOK\nERR 83886179 cancelled\n"
    let expected = ["ok", "other", "other", "data a%b\n", "ok", "failed 83886179"]
    for split in 0...text.utf8.count { #expect(words(text, split: split) == expected) }
  }

  @Test func `what is cut short is no reply`() {
    let text = "D a%25\n"
    for count in 0..<text.utf8.count { #expect(words(String(text.prefix(count))) == []) }
  }

  @Test(arguments: [
    "D a%\n", "D a%2\n", "D %zz\n", "ERR\n", "ERR \n", "ERR x\n", "ERR 1x\n", "ERR 4294967296\n", "OKAY\n",
    "INQUIRE x\n", "END\n", "D\n",
  ])
  func `lines that no server sends are refused`(line: String) { #expect(words(line) == ["!"]) }

  @Test func `a line has at most a thousand bytes`() {
    let longest = "D " + String(repeating: "a", count: 998)
    #expect(words(longest + "\n").first?.count == 1003)
    #expect(words(longest + "a\n") == ["!"])
    #expect(words(longest + "a") == ["!"])
  }

  @Test func `a command's text is escaped and stays within a line`() {
    #expect(AssuanCommand.line("SETDESC", "a%b\nc\r\u{1b}") == "SETDESC a%25b%0Ac??\n")
    for text in ["%", "ä", "a"] {
      let line = AssuanCommand.line("SETDESC", String(repeating: text, count: 2000))
      #expect(line.utf8.count <= 1000)
      #expect(line.filter { $0 == "\n" }.count == 1 && line.hasSuffix("…\n"))
    }
  }
}
