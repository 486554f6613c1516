import Foundation
import Testing
import VaultWire

@testable import VaultImport

@Suite("Exports of Google Authenticator") struct MigrationTests {
  /// The example of github.com/dim13/otpauth.
  private static let published =
    "otpauth-migration://offline?data=CjEKCkhlbGxvId6tvu8SGEV4YW1wbGU6YWxpY2VAZ29vZ2xlLmNvbRoHRXhhbXBsZTAC"

  // These were written by Google's own library for Protocol Buffers (Python) from the published description.
  private static let first =
    "otpauth-migration://offline?data=CjUKCkhlbGxvId6tvu8SGEV4YW1wbGU6YWxpY2VAZ29vZ2xlLmNvbRoHRXhhbXB"
    + "sZSABKAEwAgo7ChQAAQIDBAUGBwgJCgsMDQ4PEBESExIQYm9iICYgc8O2aG5lLyJ4IhoLw5xuw686IENvcnAgAigCMAIKMwo"
    + "ga2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2sSB2NvdW50ZXIgAygBMAE4KhABGAIo%2BdK0%2F%2F%2F%2F%2F%2"
    + "F%2F%2FAQ%3D%3D"
  private static let second =
    "otpauth-migration://offline?data=ChsKCnh4eHh4eHh4eHgSA29sZBoCTUQgBCgBMAIKIwoKeXl5eXl5eXl5eRoKT25"
    + "seUlzc3VlckIHYWJjLTEyM0gHCh0KBXp6enp6EgdzdGVhbWVyGgVTdGVhbSABKAEwAgoJEgdub3RoaW5nCg4KAXcSB3N0cmF"
    + "uZ2UgCRABGAIgASj50rT%2F%2F%2F%2F%2F%2F%2F8B"
  private static let ofFour =
    "otpauth-migration://offline?data=ChsKCnh4eHh4eHh4eHgSA29sZBoCTUQgBCgBMAIQARgEIAEo%2BdK0%2F%2F%2F"
    + "%2F%2F%2F%2F%2FAQ%3D%3D"
  private static let ofTwo =
    "otpauth-migration://offline?data=CjUKCkhlbGxvId6tvu8SGEV4YW1wbGU6YWxpY2VAZ29vZ2xlLmNvbRoHRXhhbXB"
    + "sZSABKAEwAhABGAIo%2BdK0%2F%2F%2F%2F%2F%2F%2F%2FAQ%3D%3D"

  @Test("the published example has one account") func example() throws {
    #expect(recognizes(MigrationReader.self, Self.published))
    let read = try ReadEntries(MigrationReader.self, Self.published)
    #expect(read.format?.name == "otpauth-migration" && read.format?.detail == "export of Google Authenticator")
    #expect(
      read.told == [
        "one-time Example (alice@google.com)",
        "  otpauth [one-time] otpauth://totp/Example:alice%40google.com?secret=JBSWY3DPEHPK3PXP&issuer=Example",
      ])
  }

  @Test("an account of an unknown type, algorithm or number of digits is refused by name") func unknown() throws {
    /// An export of one account, whose fields are those of the published description.
    func told(algorithm: UInt8 = 1, digits: UInt8 = 1, type: UInt8 = 2) throws -> [String] {
      var account: [UInt8] = [0x0A, 10]
      account += [UInt8](repeating: 0x78, count: 10)
      account += [0x12, 1, 0x6E, 0x20, algorithm, 0x28, digits, 0x30, type]
      let whole: [UInt8] = [0x0A, UInt8(account.count)] + account
      let data = Data(whole).base64EncodedString()
      let escaped = data.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
      return try ReadEntries(MigrationReader.self, "otpauth-migration://offline?data=\(escaped)").told
    }
    #expect(try told().last?.hasPrefix("  otpauth [one-time] otpauth://totp/n?secret=") == true)
    #expect(try told(digits: 4).last == "  secret [one-time] its codes have an unknown number of digits (4)")
    #expect(try told(algorithm: 5).last == "  secret [one-time] its codes are made by the unknown algorithm 5")
    #expect(try told(type: 3).last == "  secret [one-time] its codes are of the unknown type 3")
  }

  @Test("both parts of an export give all accounts once, with their algorithms, digits, types and counters")
  func parts() throws {
    let text = "# phone\n\(Self.first)\r\n\n\(Self.second)\n\(Self.second)\n"
    let read = try ReadEntries(MigrationReader.self, text)
    #expect(read.format?.detail == "export of Google Authenticator")
    #expect(
      read.told == [
        "one-time Example (alice@google.com)",
        "  otpauth [one-time] otpauth://totp/Example:alice%40google.com?secret=JBSWY3DPEHPK3PXP&issuer=Example",
        "one-time Ünï: Corp (bob & söhne/\"x\")",
        "  otpauth [one-time] otpauth://totp/bob%20%26%20s%c3%b6hne%2f%22x%22?secret=AAAQEAYEAUDAOCAJBIFQYDIOB4IBCEQT"
          + "&issuer=%c3%9cn%c3%af%3a%20Corp&algorithm=SHA256&digits=8",
        "one-time counter",
        "  otpauth [one-time] otpauth://hotp/counter?secret=NNVWW23LNNVWW23LNNVWW23LNNVWW23LNNVWW23LNNVWW23LNNVQ"
          + "&algorithm=SHA512&counter=42",
        "one-time MD (old)",
        "  otpauth [one-time] otpauth://totp/MD:old?secret=PB4HQ6DYPB4HQ6DY&issuer=MD&algorithm=MD5",
        "one-time OnlyIssuer",
        "  otpauth [one-time] otpauth://totp/OnlyIssuer?secret=PF4XS6LZPF4XS6LZ&issuer=OnlyIssuer",
        "  field 9 [setting] 7", "one-time Steam (steamer)",
        "  otpauth [one-time] otpauth://totp/Steam%20steamer?secret=PJ5HU6T2", "one-time nothing",
        "  secret [one-time] the export holds no secret for it", "one-time strange",
        "  secret [one-time] its codes are made by the unknown algorithm 9",
      ])
    #expect(read.entries[4].id == "abc-123")
  }

  @Test("the missing parts are told by their numbers") func missing() throws {
    func detail(_ text: String) throws -> String? { try ReadEntries(MigrationReader.self, text).format?.detail }
    #expect(
      try detail(Self.ofFour)
        == "export of Google Authenticator, of which parts 1, 3 and 4 of 4 are missing")
    #expect(try detail(Self.ofTwo) == "export of Google Authenticator, of which part 2 of 2 is missing")
  }

  @Test("what is damaged is an error with its line") func errors() {
    func reason(_ data: String) -> String? {
      refusal(MigrationReader.self, "\notpauth-migration://offline?data=\(data)")
    }
    #expect(reason("CjEKCkhlbG")?.hasPrefix("line 2: ") == true)
    #expect(reason("!")?.hasSuffix("has no 'data' in base64") == true)
    for data in ["CgU", "Cv____8P", "gA", "C______________w", "DA"] {
      #expect(reason(data) == "line 2: its data is damaged or cut off", "\(data)")
    }
    #expect(refusal(MigrationReader.self, "otpauth-migration://offline") != nil)
  }

  @Test("no damaged export crashes the reader") func damaged() {
    attack(MigrationReader.self, Self.published)
    attack(MigrationReader.self, Self.second)
  }
}
