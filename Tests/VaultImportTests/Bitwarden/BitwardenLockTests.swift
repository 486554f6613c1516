import Testing
import VaultWire

@testable import VaultImport

@Suite struct BitwardenLockTests {
  @Test("A key is made by PBKDF2, or by Argon2id with several lanes")
  func opens() throws {
    let pbkdf2 = try ExportStand.read(ExportStand.file("bitwarden-pbkdf2.json"), ExportStand.passwords.pbkdf2)
    #expect(pbkdf2.format?.detail == "Bitwarden export of a vault, PBKDF2 with 5000 iterations")
    #expect(pbkdf2.entry("Steam")?.exportLines.contains("password [password] pw") == true)
    let argon2id = try ExportStand.read(ExportStand.file("bitwarden-argon2id.json"), ExportStand.passwords.argon2id)
    #expect(argon2id.format?.detail == "Bitwarden export of a vault, Argon2id with 16 MiB, 2 passes and 2 lanes")
    #expect(argon2id.entry("Steam")?.exportLines == pbkdf2.entry("Steam")?.exportLines)
  }

  @Test("A wrong or empty password is asked for again, at most twice")
  func asksAgain() throws {
    let bytes = try ExportStand.file("bitwarden-pbkdf2.json")
    let gathered = try ExportStand.read(bytes, "wrong", "", ExportStand.passwords.pbkdf2)
    #expect(gathered.questions == [false, true, true])
    #expect(gathered.entries.count == 1)
    #expect(ExportStand.failure(bytes)?.code == .noSecret)
    #expect(ExportStand.failure(bytes, "wrong")?.code == .wrongSecret)
    #expect(throws: ImportFailure(.wrongSecret, "the password is wrong")) {
      try ExportStand.read(bytes, "a", "b", "c", ExportStand.passwords.pbkdf2)
    }
  }

  @Test("An export for one account is refused with what to export instead")
  func refusesAccount() throws {
    let bytes = try ExportStand.file("bitwarden-account.json")
    let failure = ExportStand.failure(bytes)
    #expect(failure?.code == .unsupported)
    #expect(failure?.reason.contains("\"Password protected\"") == true)
    #expect(ExportStand.recognizes(bytes))
  }

  @Test(
    "Parameters out of range are errors, before the password is asked for",
    arguments: [
      (#""kdfIterations": 5000"#, #""kdfIterations": 1000000000"#, ImportFailure.Code.tooLarge),
      (#""kdfIterations": 5000"#, #""kdfIterations": 0"#, .damaged),
      (#""kdfIterations": 5000"#, #""kdfIterations": 1e99"#, .damaged),
      (#""kdfIterations": 5000"#, #""kdfIterations": null"#, .damaged),
      (#""kdfType": 0"#, #""kdfType": 2"#, .unsupported),
      (#""kdfType": 0"#, #""kdfType": 1"#, .damaged),
      (#""kdfType": 0"#, #""kdfType": 1, "kdfMemory": 1025, "kdfParallelism": 1"#, .tooLarge),
      (#""kdfType": 0"#, #""kdfType": 1, "kdfMemory": 1, "kdfParallelism": 65"#, .tooLarge),
      (#""kdfType": 0"#, #""kdfType": 1, "kdfMemory": 1024, "kdfParallelism": 1"#, .tooLarge),
      (#""salt""#, #""sal""#, .damaged),
      (#""encKeyValidation_DO_NOT_EDIT": "2."#, #""encKeyValidation_DO_NOT_EDIT": "7."#, .damaged),
    ])
  func limitsParameters(_ text: String, _ changed: String, _ code: ImportFailure.Code) throws {
    let export = String(decoding: try ExportStand.file("bitwarden-pbkdf2.json"), as: UTF8.self)
    let parts = export.split(separator: text, maxSplits: 1)
    #expect(parts.count == 2)
    #expect(ExportStand.failure(Array(parts.joined(separator: changed).utf8))?.code == code)
  }

  @Test("Every truncation is an error")
  func refusesTruncations() throws {
    for name in ["bitwarden-pbkdf2.json", "bitwarden-argon2id.json"] {
      let bytes = try ExportStand.file(name)
      for count in 0..<bytes.count {
        #expect(ExportStand.failure(Array(bytes.prefix(count)), ExportStand.passwords.pbkdf2)?.code == .damaged)
      }
    }
  }

  @Test("No flipped bit of an encrypted export goes unnoticed")
  func noticesFlippedBits() throws {
    let bytes = try ExportStand.file("bitwarden-pbkdf2.json")
    for place in bytes.indices {
      var changed = bytes
      changed[place] ^= 1 << (place % 8)
      #expect(ExportStand.failure(changed, ExportStand.passwords.pbkdf2) != nil, "byte \(place)")
    }
  }
}
