import Testing
import VaultWire

@testable import VaultImport

@Suite("Rows of comma-separated values") struct CSVParserTests {
  private func rows(_ text: String, separator: Character = ",", backslashes: Bool = false) throws -> [[String]] {
    var parser = CSVParser(Array(text.utf8), separator: separator.asciiValue ?? 0)
    parser.hasBackslashes = backslashes
    var rows: [[String]] = []
    while let row = try parser.next() {
      rows.append(row.values.map { String(decoding: parser.content($0), as: UTF8.self) })
    }
    return rows
  }

  private func failure(_ bytes: [UInt8]) -> String? {
    var parser = CSVParser(bytes, separator: 0x2C)
    do {
      while try parser.next() != nil {}
      return nil
    } catch { return error.reason }
  }

  @Test("values keep commas, quotes, line breaks and blanks", arguments: ["\n", "\r\n", "\r"])
  func values(_ end: String) throws {
    let text = "a,b,c\(end)\" x \",\"1,2\",\"say \"\"hi\"\"\"\(end)  y ,\"l1\nl2\r\nl3\",\(end)"
    #expect(try rows(text) == [["a", "b", "c"], [" x ", "1,2", "say \"hi\""], ["  y ", "l1\nl2\r\nl3", ""]])
    #expect(try rows("\u{FEFF}a,b") == [["a", "b"]])
    #expect(try rows("") == [] && rows("\n") == [[""]] && rows("\"\"") == [[""]] && rows("a,") == [["a", ""]])
  }

  @Test("a quote within a value without quotes is a character, and other separators work") func others() throws {
    #expect(try rows("5\" disk,a\"b\"") == [["5\" disk", "a\"b\""]])
    #expect(try rows("a;b,c\td", separator: ";") == [["a", "b,c\td"]])
    #expect(try rows(#""a\"b\\","x""y","\n""#, backslashes: true) == [[#"a"b\"#, "x\"y", "n"]])
    #expect(try rows(#""a\",b"#) == [[#"a\"#, "b"]])
  }

  @Test("faults name their line") func faults() {
    #expect(failure(Array("a\n\n\"x\ny".utf8)) == "the value in quotes that begins in line 3 does not end")
    #expect(failure(Array("a\n\"x\ny\"z".utf8)) == "line 3 has text after a value in quotes")
    #expect(failure(Array("a\r\nb,\"c\nd".utf8) + [0xFF] + Array("\"".utf8)) == "line 3 is not UTF-8")
    #expect(failure([0x61, 0x0A, 0xC3, 0x0A]) == "line 2 is not UTF-8")
    #expect(failure([0x61, 0x0A, 0x62, 0]) == "line 2 contains a NUL character")
    #expect(failure([UInt8](repeating: 0x2C, count: 5000)) == "line 1 has more than 1024 values")
  }
}
