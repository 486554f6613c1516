import Testing
import VaultModel
import VaultWire

@testable import VaultCLI

@Suite("Files of variables") struct EnvironmentFileTests {
  private func read(_ text: [UInt8]) throws(EnvironmentFile.Fault) -> [String] {
    var variables = Variables()
    var file = EnvironmentFile(path: "file")
    try file.read(text.span, into: &variables)
    let none = FetchedItems()
    return variables.entries.map { entry in
      if case .item(let item) = entry.source {
        return "\(entry.name)=>\(item.name.text)\(item.field.map { "#" + $0 } ?? "")"
      }
      return variables.withValue(of: entry, none) { bytes in
        let bytes = Span<UInt8>(_bytes: bytes)
        return "\(entry.name)=\(String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self))"
      }
    }
  }

  @Test(
    "each way to write a value is read",
    arguments: [
      ("A=b", ["A=b"]), ("A=b\n", ["A=b"]), ("A=b\r\nC=d\r\n", ["A=b", "C=d"]), ("", []), ("\n\n", []),
      ("# A=b\n  # more\nC=d", ["C=d"]), ("export A=b", ["A=b"]), ("export\tA = b ", ["A=b"]),
      ("export=b", ["export=b"]), ("A=", ["A="]), ("A= # none", ["A="]), ("A=b # c", ["A=b"]), ("A=b#c", ["A=b#c"]),
      ("A=b c  d  ", ["A=b c  d"]), ("A='b # $c \\n'", ["A=b # $c \\n"]), ("A='b\nc'\nD=e", ["A=b\nc", "D=e"]),
      (#"A="b\n\t\"\\\$\x""#, ["A=b\n\t\"\\$\\x"]), ("A=\"b\" # c", ["A=b"]), ("A=b=c", ["A=b=c"]), ("A=$B", ["A=$B"]),
      ("A=b\nA=c", ["A=c"]), ("\u{FEFF}A=b", ["A=b"]), ("A=it's", ["A=it's"]), ("A=vault:owm/appid", ["A=>owm/appid"]),
      ("A=vault:wifi/home#ssid # x", ["A=>wifi/home#ssid"]), ("A='vault:a b'", ["A=>a b"]),
      ("A=\"vault:a#value\"", ["A=>a"]), ("A=vault:a#b#value", ["A=>a#b"]), ("A=vaults", ["A=vaults"]),
      ("A=vault:a\nA=b", ["A=b"]), ("A='VAULT:a'", ["A=VAULT:a"]), ("A=VAULT", ["A=VAULT"]),
    ])
  func reads(text: String, variables: [String]) throws { #expect(try read(Array(text.utf8)) == variables) }

  @Test(
    "what is none is refused with its line, and nothing of it is repeated",
    arguments: [
      ("A", 1), ("\nA b\n", 2), ("1A=b", 1), ("=b", 1), ("A='b\nc", 1), ("\nA=\"b", 2), ("A='b'c", 1), ("A='b'#c", 1),
      ("A=b\0", 1), ("A='\n\n'\nB", 4), ("A=vault:", 1), ("A=vault:/a", 1), ("A=vault:a#", 1), ("A-B=c", 1), ("é=b", 1),
      ("export", 1), ("A='1\n2'\nB=vault:\n", 3), ("A=VAULT:a", 1), ("A=Vault:a/k # x", 1),
    ])
  func refuses(text: String, line: Int) {
    let fault = #expect(throws: EnvironmentFile.Fault.self) { _ = try read(Array(text.utf8)) }
    #expect(fault?.line == line)
  }

  @Test("values are bytes, names of items are text") func bytes() throws {
    #expect(try read([0x41, 0x3D, 0xFF]) == ["A=\u{FFFD}"])
    #expect(throws: EnvironmentFile.Fault.self) { _ = try read(Array("A=vault:".utf8) + [0xFF]) }
  }

  @Test("any cut of a file is read or refused") func cuts() {
    let text = Array("# x\nexport A=\"b\\n\" # c\nB='d\ne'\nC=vault:f#g\r\nD=h #i\n".utf8)
    for count in 0...text.count { _ = try? read(Array(text[..<count])) }
    for index in text.indices {
      for bit in 0..<8 {
        var other = text
        other[index] ^= 1 << UInt8(bit)
        _ = try? read(other)
      }
    }
  }
}
