import Testing
import VaultWire

@testable import VaultImport

@Suite("andOTP") struct AndOTPTests {
  private typealias Stand = AuthenticatorStand

  private static let told = [
    "one-time GitHub (ana)", "  otpauth [one-time] otpauth://totp/GitHub:ana?secret=\(Stand.secret)&issuer=GitHub",
    "  thumbnail [setting] Github", "  last_used [setting] 1608146844162", "  used_frequency [setting] 4",
    "  tags [tag] work", "  tags [tag] code, mine",
    "one-time Old - bob",
    "  otpauth [one-time] otpauth://hotp/Old%20-%20bob?secret=\(Stand.secret)&algorithm=SHA256&digits=8&counter=7",
    "one-time Steam (gabe)",
    "  otpauth [one-time] otpauth://totp/Steam:gabe?secret=\(Stand.secret)&issuer=Steam&digits=5&encoder=steam",
    "document Mobile (mo)", "  issuer [text] Mobile", "  account [text] mo",
    #"  motp [document] {"secret":"GAYTEMZUGU3DOOBZMFRGGZDFMY======","digits":6,"type":"MOTP","algorithm":"SHA1"}"#,
    "  type [setting] vault makes no codes of the type 'motp', so the secret is kept as it is, as JSON",
  ]

  @Test("every account, its tags and its settings are read") func plain() throws {
    let read = try Stand.read(AndOTPReader.self, Stand.file("andotp-plain.json"))
    #expect(read.format?.name == "andotp" && read.format?.detail == "backup of andOTP")
    #expect(read.told == Self.told)
  }

  @Test("an encrypted backup opens in its new form and in its old one") func encrypted() throws {
    let bytes = try Stand.file("andotp-encrypted.json.aes")
    let read = try Stand.read(AndOTPReader.self, bytes, "wrong", Stand.password)
    #expect(read.told == Self.told && read.questions == [false, true])
    #expect(read.format?.detail == "backup of andOTP, PBKDF2 with 140123 iterations")
    // Its initialization vector begins as JSON does.
    let old = try Stand.read(AndOTPReader.self, Stand.file("andotp-old.json.aes"), Stand.small)
    #expect(old.told == Self.told && old.format?.detail == "backup of andOTP, a key of the old form")
    #expect(Stand.failure(AndOTPReader.self, bytes)?.code == .noSecret)
    #expect(Stand.failure(AndOTPReader.self, bytes, "x") == ImportFailure(.wrongSecret, "the password is wrong"))
  }

  @Test("more iterations than a person would wait for are not computed") func iterations() throws {
    var bytes = try Stand.file("andotp-small.json.aes")
    bytes.replaceSubrange(0..<4, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(Stand.failure(AndOTPReader.self, bytes, Stand.small)?.code == .wrongSecret)
    bytes.replaceSubrange(0..<4, with: [0, 0, 0, 0])
    #expect(Stand.failure(AndOTPReader.self, bytes, Stand.small)?.code == .wrongSecret)
  }

  @Test("a backup is recognized by its accounts, by its iterations, or by its name") func recognition() throws {
    func isOne(_ file: String, as name: String) throws -> Bool {
      FileFormat.guess(Source([Source.File(name, try Stand.file(file))]) { _ in nil }) == .andOTP
    }
    #expect(try isOne("andotp-plain.json", as: "a") && isOne("andotp-encrypted.json.aes", as: "a"))
    #expect(try isOne("andotp-old.json.aes", as: "otp_accounts.json.aes") && !isOne("andotp-old.json.aes", as: "a"))
    #expect(!recognizes(AndOTPReader.self, #"[{"secret":"x"}]"#) && !recognizes(AndOTPReader.self, ""))
  }

  @Test("no damaged file crashes the reader, and no change of an encrypted one goes unnoticed") func damaged() throws {
    attack(AndOTPReader.self, #"[{"secret":"JBSWY3DP","label":"l","digits":6,"type":"TOTP","tags":["t"],"period":30}]"#)
    try Stand.attackSealed(AndOTPReader.self, "andotp-small.json.aes", from: 4)
    let bytes = try Stand.file("andotp-old.json.aes")
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 1 << (place % 8)
      #expect(Stand.failure(AndOTPReader.self, changed, Stand.small) != nil, "byte \(place)")
    }
  }
}
