import Testing
import VaultWire

@testable import VaultImport

@Suite struct BitwardenPlainTests {
  @Test("A login comes with all its parts")
  func readsLogin() throws {
    let gathered = try ExportStand.read(ExportStand.file("bitwarden-plain.json"))
    #expect(gathered.format == ImportedFormat(name: "bitwarden", detail: "Bitwarden export of a vault"))
    #expect(gathered.entries.count == 10)
    let entry = try #require(gathered.entry("Mail"))
    #expect(entry.kind == .login)
    #expect(entry.folder == ["Work", "Servers"])
    #expect(!entry.isTrashed)
    let passkey = try #require(entry.fields.first { $0.role == .document })
    #expect(passkey.mediaType == "application/json")
    #expect(String(decoding: passkey.value, as: UTF8.self).contains(#""rpId":"example.org","userHandle":"#))
    let lines = entry.exportLines.filter { !$0.hasPrefix("passkey ") }
    #expect(
      lines == [
        "password [old-password] oldest", "PIN [old-field] 1111", "password [old-password] newer, old",
        "reprompt [setting] 1", "notes [note] line one\nline “two”\t🔑", "favorite [setting] true",
        "Plain [text] text value", "PIN [secret] 2222", "Remember [text] true", "Same [setting] linked to username",
        "uri [url] https://mail.example.org/login?a=1&b=2", "match 2 [setting] exact",
        "uri 2 [url] androidapp://org.example.mail", "match 3 [setting] regular expression",
        #"uri 3 [text] ^https://.*\.example\.org$"#, "username [username] ada@example.org",
        #"password [password]  p"a\ss,wörd "#,
        "totp [one-time] otpauth://totp/Mail:ada?secret=JBSWY3DPEHPK3PXP&issuer=Mail&algorithm=SHA256&digits=8"
          + "&period=60",
        "key [setting] it is the key under which Bitwarden's server keeps this item, and of no use elsewhere",
      ])
  }

  @Test("Times are those of the source, and old passwords come oldest first with theirs")
  func readsTimes() throws {
    let entry = try #require(ExportStand.read(ExportStand.file("bitwarden-plain.json")).entry("Mail"))
    func text(_ role: ImportedField.Role) -> [String] {
      entry.fields.filter { $0.role == role }.map { String(decoding: $0.value, as: UTF8.self) }
    }
    #expect(text(.created) == ["1672628645"])
    #expect(text(.modified) == ["1714979289"])
    let old = entry.fields.filter { $0.role == .oldPassword || $0.role == .oldField }
    #expect(old.map(\.time) == [1_677_906_367, 1_714_867_200, 1_714_979_289])
  }

  @Test("One-time secrets in each of Bitwarden's forms become URIs, and other texts stay secret")
  func readsOneTimeSecrets() throws {
    let gathered = try ExportStand.read(ExportStand.file("bitwarden-plain.json"))
    #expect(
      gathered.entry("Bare: secret")?.exportLines == [
        "totp [one-time] otpauth://totp/Bare%20%20secret?secret=JBSWY3DPEHPK3PXP"
      ])
    #expect(
      gathered.entry("Steam")?.exportLines.last
        == "totp [one-time] otpauth://totp/Steam?secret=HXDMVJECJJWSRB3H&digits=5&encoder=steam")
    #expect(gathered.entry("Odd secret")?.exportLines == ["password [password] pw", "totp [one-time] not a secret!"])
  }

  @Test("A note, a card, an identity, a key, a bank account and an unknown item come whole")
  func readsOtherTypes() throws {
    let gathered = try ExportStand.read(ExportStand.file("bitwarden-plain.json"))
    let note = try #require(gathered.entry("Note"))
    #expect(note.kind == .note)
    #expect(note.isTrashed)
    #expect(
      note.exportLines == ["deletedDate [setting] 2024-05-06T07:08:09.123Z", "notes [note] remember\n\nthe milk"])
    let card = try #require(gathered.entry("Visa"))
    #expect(card.kind == .document)
    #expect(
      card.exportLines == [
        #"card [document] {"cardholderName":"Ada Lovelace","brand":"Visa","number":"4111111111111111","#
          + #""expMonth":"3","expYear":"2030","code":"123"}"#
      ])
    #expect(gathered.entry("Me")?.exportLines.first?.hasPrefix(#"identity [document] {"title":"Dr","#) == true)
    #expect(gathered.entry("Account")?.exportLines.first?.hasPrefix(#"bankAccount [document] {"bankName""#) == true)
    let key = try #require(gathered.entry("Key"))
    #expect(key.kind == .sshKey)
    #expect(
      key.exportLines.map { $0.prefix { $0 != "]" } } == [
        "privateKey [password", "publicKey [text", "keyFingerprint [text",
      ])
    #expect(
      gathered.entry("Future")?.exportLines == [
        "archivedDate [setting] 2025-01-01T00:00:00.000Z", "type [setting] 99",
        #"future [document] {"of":["vaults",1000.0,true]}"#, "futureText [secret] secret?",
        "futureNumber [setting] 12345678901234567890123",
      ])
  }

  @Test("The first collection is the folder, the others are labels, and unknown ones are told")
  func readsOrganization() throws {
    let gathered = try ExportStand.read(ExportStand.file("bitwarden-organization.json"))
    #expect(gathered.format?.detail == "Bitwarden export of an organization")
    let shared = try #require(gathered.entry("Shared"))
    #expect(shared.folder == ["Team", "Web"])
    #expect(shared.exportLines.contains("collection [tag] Everyone"))
    #expect(shared.exportLines.contains("externalId of the collection [setting] ldap-7"))
    #expect(shared.exportLines.contains("match [setting] never"))
    let lost = try #require(gathered.entry("Lost"))
    #expect(lost.folder.isEmpty)
    #expect(lost.exportLines.contains("collectionIds [setting] 00000000-0000-4000-8000-000000000000"))
  }
}
