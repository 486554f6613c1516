import Testing
import VaultWire

@testable import VaultImport

@Suite("2FAS") struct TwoFASTests {
  private typealias Stand = AuthenticatorStand

  /// The fields of a service without its icon and its place in the list, which all of them have.
  private func told(_ read: ReadEntries) -> [String] {
    read.told.filter { line in !["icon", "order", "source"].contains { line.hasPrefix("  \($0) [setting]") } }
  }

  @Test("every service, its group and its settings are read") func plain() throws {
    let read = try Stand.read(TwoFASReader.self, Stand.file("2fas-plain.2fas"))
    #expect(read.format?.name == "2fas" && read.format?.detail == "backup of 2FAS, schema version 4")
    let repeated = "  link [setting] it repeats the secret of the service"
    let odd = #"  totp [document] {"secret":"\#(Stand.secret)","otp":{"link":"otpauth://totp/Odd:x?secret="#
    let lines = told(read).map { $0.hasPrefix(odd) ? odd : $0 }
    #expect(
      lines == [
        "one-time Work/GitHub (ana)",
        "  otpauth [one-time] otpauth://totp/GitHub:ana?secret=\(Stand.secret)&issuer=GitHub",
        "  updatedAt [modified] 1702934567", #"  badge [setting] {"color":"Orange"}"#, repeated,
        "one-time My server (root)",
        "  otpauth [one-time] otpauth://hotp/srv.example:root?secret=\(Stand.secret)&issuer=srv.example"
          + "&algorithm=SHA256&digits=8&counter=5",
        "  updatedAt [modified] 1702934567", repeated, "  label [text] srv.example:the root",
        "one-time Steam (gabe)",
        "  otpauth [one-time] otpauth://totp/Steam:gabe?secret=\(Stand.secret)&issuer=Steam&digits=5&encoder=steam",
        "  updatedAt [modified] 1702934567", repeated,
        "document Odd (x)", "  issuer [text] Odd", "  account [text] x", odd,
        "  type [setting] vault makes no codes by the algorithm of the account, "
          + "so the secret is kept as it is, as JSON",
        "  updatedAt [modified] 1702934567",
        "one-time Other (y)", "  otpauth [one-time] otpauth://totp/Other:y?secret=GEZDGNBVGY3TQOJQ&issuer=Other",
        "  updatedAt [modified] 1702934567", "  link [secret] otpauth://totp/Other:y?secret=\(Stand.secret)",
      ])
  }

  @Test("a password opens an encrypted backup, and a wrong one is asked for again") func encrypted() throws {
    let bytes = try Stand.file("2fas-encrypted.2fas")
    let read = try Stand.read(TwoFASReader.self, bytes, "wrong", Stand.password)
    let plain = try Stand.read(TwoFASReader.self, Stand.file("2fas-plain.2fas"))
    #expect(read.told == plain.told && read.questions == [false, true])
    #expect(read.format?.detail == "backup of 2FAS, schema version 4, PBKDF2 with 10000 iterations")
    #expect(Stand.failure(TwoFASReader.self, bytes)?.code == .noSecret)
    #expect(Stand.failure(TwoFASReader.self, bytes, "x") == ImportFailure(.wrongSecret, "the password is wrong"))
  }

  @Test("earlier schema versions name no type, and later ones are refused", arguments: [1, 2, 3])
  func versions(_ version: Int) throws {
    let service = #"{"name":"N","secret":"JBSW Y3DP","type":"Unknown","otp":{"account":"a","label":"N:a"}}"#
    func backup(_ version: Int) -> String { #"{"schemaVersion":\#(version),"services":[\#(service)],"account":"x"}"# }
    #expect(
      try ReadEntries(TwoFASReader.self, backup(version)).told == [
        "one-time N (a)", "  otpauth [one-time] otpauth://totp/N:a?secret=JBSWY3DP&issuer=N",
        "  type [setting] Unknown", "login 2FAS", "  account [secret] x",
      ])
    let reason = "the backup has schema version 5, and versions up to 4 are read"
    #expect(refusal(TwoFASReader.self, backup(5)) == reason)
    #expect(refusal(TwoFASReader.self, #"{"schemaVersion":1}"#) == "the backup has no 'services'")
    let sealed = #"{"schemaVersion":4,"services":[],"servicesEncrypted":"AAAA:AAAA"}"#
    #expect(refusal(TwoFASReader.self, sealed) == "the encrypted services are not whole")
  }

  @Test("a backup is recognized by its members") func recognition() throws {
    for name in ["2fas-plain.2fas", "2fas-encrypted.2fas", "2fas-small.2fas"] {
      #expect(FileFormat.guess(Source([Source.File("a", try Stand.file(name))]) { _ in nil }) == .twoFAS)
    }
    #expect(!recognizes(TwoFASReader.self, #"{"services":[]}"#))
  }

  @Test("no damaged file crashes the reader, and no truncation goes unnoticed") func damaged() throws {
    let service = #"{"name":"N","secret":"JBSWY3DP","updatedAt":1,"groupId":"g","otp":{"link":"l","counter":1}}"#
    attack(TwoFASReader.self, #"{"schemaVersion":4,"services":[\#(service)],"groups":[{"id":"g","name":"G"}]}"#)
    try Stand.attackSealed(TwoFASReader.self, "2fas-small.2fas")
  }
}
