import Testing
import VaultWire

@testable import VaultImport

@Suite("Lists of otpauth URIs") struct OneTimeListTests {
  @Test("each line is an entry, between comments, blank lines and line ends of any kind") func list() throws {
    let text =
      "\u{FEFF}# mine\r\n\r\notpauth://totp/GitHub:alice%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=GitHub\r\n"
      + "  otpauth://hotp/x?secret=JBSW%20Y3DP&counter=5&digits=8  \nOTPAUTH://TOTP/Big?secret=jbswy3dp"
    #expect(recognizes(OneTimeListReader.self, text))
    let read = try ReadEntries(OneTimeListReader.self, text)
    #expect(read.format?.name == "otpauth" && read.format?.detail == "list of otpauth URIs")
    #expect(
      read.told == [
        "one-time GitHub (alice@example.com)",
        "  otpauth [one-time] otpauth://totp/GitHub:alice%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=GitHub",
        "one-time x", "  otpauth [one-time] otpauth://hotp/x?secret=JBSW%20Y3DP&counter=5&digits=8",
        "one-time Big", "  otpauth [one-time] OTPAUTH://TOTP/Big?secret=jbswy3dp",
      ])
  }

  @Test("a URI that vault refuses stays as it is, in the place of a secret") func refused() throws {
    let bad = [
      "otpauth://totp/nothing", "otpauth://hotp/x?secret=JBSWY3DP", "otpauth://totp/x?secret=JBSWY3DP&algorithm=MD5",
      "otpauth://totp/x?secret=JBSWY3DP&digits=5", "otpauth://totp/x?secret=JBSWY3DP&secret=JBSWY3DP",
      "otpauth://totp/x?secret=JBSWY3DP&period=0", "otpauth://totp/x?Secret=JBSWY3DP",
      "otpauth://totp/x?a=b&amp;secret=JBSWY3DP", "otpauth://totp/x?secret=ABCDEF", "otpauth://motp/x?secret=JBSWY3DP",
    ]
    let read = try ReadEntries(OneTimeListReader.self, bad.joined(separator: "\n"))
    #expect(read.entries.map { $0.fields.last?.role } == bad.map { _ in .oneTime })
    #expect(read.entries.map { $0.fields.last?.value } == bad.map { Array($0.utf8) })
  }

  @Test("Steam's secrets become the URI that vault knows") func steam() throws {
    let read = try ReadEntries(
      OneTimeListReader.self, "otpauth://steam/Steam:me?secret=JBSWY3DP&digits=5\nsteam://JBSWY3DP")
    #expect(
      read.told == [
        "one-time Steam (me)",
        "  otpauth [one-time] otpauth://totp/Steam:me?secret=JBSWY3DP&digits=5&encoder=steam",
        "one-time Steam", "  otpauth [one-time] otpauth://totp/Steam?secret=JBSWY3DP&digits=5&encoder=steam",
      ])
  }

  @Test("base32 alone becomes a URI with the title as its label", arguments: ["JBSWY3DP", " jbsw y3dp\n", "JBSW-Y3DP"])
  func base32(_ secret: String) {
    #expect(OneTimeText.uri(secret, account: "Ä b") == "otpauth://totp/%c3%84%20b?secret=JBSWY3DP")
    for text in ["no secret!", "", "steam://", "otpauth://totp/x"] {
      #expect(OneTimeText.uri(text, account: "x") == nil, "\(text)")
    }
    let long = OneTimeText.uri(secret, account: String(repeating: "ä", count: 5000))
    #expect(long?.utf8.count ?? 0 < 1000 && long?.hasSuffix("?secret=JBSWY3DP") == true)
  }

  @Test("a last symbol that adds no byte is left out, as Bitwarden ignores it") func lastSymbol() {
    #expect(OneTimeText.uri("fsfsfsfsefefef", account: "") == "otpauth://totp/?secret=FSFSFSFSEFEFE")
  }

  @Test("a secret without a word about Steam does not become Steam's by a title or an issuer")
  func titles() {
    #expect(OneTimeText.uri("JBSWY3DP", account: "Steam: a:b") == "otpauth://totp/Steam%20%20a%20b?secret=JBSWY3DP")
    #expect(OneTimeText.uri("JBSWY3DP", account: "steam") == "otpauth://totp/steam?secret=JBSWY3DP")
    var parameters = OneTimeParameters()
    parameters.issuer = "STEAM"
    #expect(parameters.uri("JBSWY3DP", account: "me") == "otpauth://totp/STEAM%20me?secret=JBSWY3DP")
    parameters.isSteam = true
    #expect(
      parameters.uri("JBSWY3DP", account: "me")
        == "otpauth://totp/STEAM:me?secret=JBSWY3DP&issuer=STEAM&digits=5&encoder=steam")
  }

  @Test("another line is an error that names it, and a text without secrets is none of these lists") func errors() {
    #expect(
      refusal(OneTimeListReader.self, "otpauth://totp/x?secret=JBSWY3DP\n\nhello")
        == "line 3: it is neither an otpauth URI nor a comment after '#'")
    #expect(refusal(OneTimeListReader.self, "# nothing\n") == "the text has no line with a one-time secret")
    #expect(!recognizes(OneTimeListReader.self, "# nothing\nhello\notpauth://totp/x"))
    #expect(refusal(OneTimeListReader.self, String(repeating: "\n", count: 5 << 20))?.contains("at most 4 MiB") == true)
    #expect(
      refusal(OneTimeListReader.self, String(repeating: "otpauth://\n", count: 70_000))?.contains("more than") == true)
  }

  @Test("no damaged list crashes the reader") func damaged() {
    attack(
      OneTimeListReader.self, "otpauth://totp/a%20b:c?secret=JBSWY3DP&issuer=a%20b&digits=8\nsteam://JBSWY3DP\n# x\n")
  }
}
