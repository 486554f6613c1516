import Testing
import VaultWire

@testable import VaultImport

// KeePass 2.47 made the files of its name with its own library under Mono, pykeepass 4.2.0, keepassxc-cli 2.7.4 and
// File::KDBX 0.906 those of theirs, and File::KeePass 2.03, with which kpcli writes, that of kpcli.
@Suite("The databases of KeePass and its relatives") struct KDBXFileTests {
  /// The fields of the entry that KeePass made.
  private static let mailbox = [
    "text Kunde=K-17", "note Notes=Zeile 1\nZeile 2\n\tdrei", "password Password=drittes", "secret PIN=0042",
    "one-time TimeOtp-Secret-Base32=otpauth://totp/Postfach?secret=JBSWY3DPEHPK3PXP&algorithm=SHA512",
    "url URL=https://mail.example.org/?q=1&r=2", "username UserName=neu@example.org",
    "attachment schlüssel.bin=geheim\0datei", "tag Tags=rot", "tag Tags=blau grün", "expires ExpiryTime=1927857906",
    "setting UsageCount=2", "setting IconID=61", "setting ForegroundColor=#FF0000",
    "setting OverrideURL=cmd://firefox {URL}", "setting AutoType/Association=*Mail*: {PASSWORD}{ENTER}",
    "setting CustomData/plugin.key=value", "old-password Password=erstes pä€ß <&>\"'",
    "old-password Password=zweites", "old-field UserName=ich@example.org",
    "old-field groß.txt=(3000) it is a file that only an earlier version of the entry has",
  ]
  private static let unknown = "{REF:N@I:00000000000000000000000000000001}"

  @Test(
    "give every field of KeePass's, whatever the version, the cipher and the key",
    arguments: [
      ("keepass-31-salsa20.kdbx", "pw", nil, "KDBX 3.1, AES-KDF with 6000 rounds"),
      ("keepass-4-argon2id.kdbx", "pw", nil, "KDBX 4.0, Argon2id with 2 MiB, 3 passes and 4 lanes"),
      ("keepass-4-keyfile1.kdbx", "pw", "keepass-1.keyx", "KDBX 4.0, AES-KDF with 100 rounds"),
      ("keepass-4-keyfile2.kdbx", nil, "keepass-2.keyx", "KDBX 4.0, AES-KDF with 100 rounds"),
      ("keepass-4-keyfile2.kdbx", "", "keepass-2.keyx", "KDBX 4.0, AES-KDF with 100 rounds"),
    ] as [(String, String?, String?, String)])
  func keePass(file: String, password: String?, keyFile: String?, form: String) throws {
    let key = try keyFile.map { try KDBXStand.file($0) }
    let found = try ReadEntries(database: try KDBXStand.file(file), password: password, keyFile: key)
    #expect(found.format?.name == "kdbx")
    #expect(found.format?.detail == "KeePass database, \(form)")
    #expect(found.format?.source.hasPrefix("kdbx:") == true && found.format?.source.utf8.count == 37)
    let mailbox = try #require(found.entry("Postfach"))
    #expect(mailbox.lines == Self.mailbox)
    #expect(mailbox.folder == ["Mail", "Tief/er"] && mailbox.id.utf8.count == 32 && mailbox.kind == .login)
    #expect(mailbox.texts(.created).count == 1 && mailbox.texts(.modified).count == 1)
    #expect(mailbox.fields.filter { $0.role == .oldPassword }.allSatisfy { ($0.time ?? 0) > 1_700_000_000 })
    let reference = try #require(found.entry("Verweis"))
    #expect(
      reference.lines == [
        "note Notes=\(Self.unknown) Postfach", "password Password=drittes",
        "url URL=https://mail.example.org/?q=1&r=2", "username UserName=neu@example.org",
        "setting reference=Notes: \(Self.unknown)",
      ])
    let trashed = try #require(found.entry("weg"))
    #expect(trashed.isTrashed && trashed.folder == ["Papierkorb", "alt"])
    #expect(found.entry("Notiz")?.kind == .note && found.entry("")?.lines == [])
    #expect(found.entries.filter(\.isTrashed).count == 1)
    #expect(found.entry("Mail")?.lines == ["note Notes=notes of the group", "setting IconID=19"])
    #expect(
      found.entry("Datenbank ☃")?.lines == [
        "note DatabaseDescription=a description\nof two lines", "setting DefaultUserName=standard",
      ])
    #expect(found.entries.count == 7)
  }

  @Test("give every field of pykeepass's") func pykeepass() throws {
    let found = try ReadEntries(database: try KDBXStand.file("pykeepass-4-twofish.kdbx"))
    #expect(found.format?.detail == "KeePass database, KDBX 4.0, Argon2d with 1 MiB, 5 passes and 2 lanes")
    let entry = try #require(found.entry("UBS \"1\""))
    #expect(entry.folder == ["Bänke & <Co>", "Schweiz/Zürich"])
    #expect(
      entry.lines.filter { !$0.hasPrefix("attachment") } == [
        "url URL=https://ubs.com/?a=b&c", "note Notes=line 1\nline 2\ttab",
        "one-time otp=otpauth://totp/UBS:me?secret=JBSWY3DPEHPK3PXP&period=30&digits=6&issuer=UBS",
        "text open=plain ☃", "password Password=third", "username UserName=other", "secret PIN=9", "tag Tags=a",
        "tag Tags=b c", "expires ExpiryTime=1893553445", "setting AutoType/DefaultSequence={USERNAME}{TAB}",
        "setting IconID=12", "old-password Password=pä$$\n wörd<>&", "old-field UserName=me@example.org",
        "old-password Password=second", "old-field PIN=1234",
      ])
    let attachment = try #require(entry.fields.first { $0.role == .attachment })
    #expect(attachment.name == "file.bin")
    #expect(attachment.value == Array(repeatElement(Array("hello ".utf8) + [0, 255], count: 10).joined()))
    #expect(found.entry("ref2")?.texts(.password) == ["thirdx"])
    #expect(found.entries.filter(\.isTrashed).map(\.folder) == [["Recycle Bin"], ["Recycle Bin", "dead"]])
  }

  @Test("give every field of KeePassXC's, with a passkey and a one-time secret") func keePassXC() throws {
    let found = try ReadEntries(database: try KDBXStand.file("keepassxc-41.kdbx"), password: "pw2")
    #expect(found.format?.detail == "KeePass database, KDBX 4.1, AES-KDF with 1000000 rounds")
    let entry = try #require(found.entry("Renamed"))
    #expect(
      entry.lines == [
        "secret KPEX_PASSKEY_PRIVATE_KEY_PEM=-----BEGIN", "secret KPEX_PASSKEY_USERNAME=joe", "note Notes=no\ntes",
        "password Password=newpw", "url URL=https://e.org", "username UserName=jane",
        "one-time otp=otpauth://totp/a:b?secret=JBSWY3DPEHPK3PXP&period=30&digits=6&issuer=a", "attachment att.txt=",
        "attachment big.bin=", "attachment empty.bin=", "old-password Password=secret ☃", "old-field Title=Entry",
        "old-field UserName=joe",
      ])
    #expect(entry.texts(.created) == ["1796067750"] && entry.texts(.modified) == ["1796067753"])
    #expect(found.entry("gone")?.isTrashed == true)
  }

  @Test("give the fields of kpcli's and of File::KDBX's") func perl() throws {
    let old = try ReadEntries(database: try KDBXStand.file("kpcli-30.kdbx"))
    #expect(old.format?.detail == "KeePass database, KDBX 3.0, AES-KDF with 6000 rounds")
    let one = try #require(old.entry("one"))
    #expect(one.texts(.password) == ["pw<1>&"] && one.texts("Extra") == ["x1"] && one.folder == ["sub"])
    #expect(old.entry("two")?.texts(.attachment) == ["file content"])
    let new = try ReadEntries(database: try KDBXStand.file("file-kdbx-41-chacha20.kdbx"))
    #expect(new.format?.detail == "KeePass database, KDBX 4.1, AES-KDF with 1000 rounds")
    let first = try #require(new.entry("First"))
    #expect(first.texts("secret field") == ["sf"] && first.texts(.oldPassword) == ["pw ☃ 1"])
    #expect(first.fields.first { $0.name == "b.bin" }?.value == (0...5000).map { UInt8($0 % 256) })
    let uri = "otpauth://totp/Third?secret=GEZDGNBVGY3TQOJQ&algorithm=SHA256&digits=8&period=60"
    #expect(new.entry("Third")?.texts(.oneTime) == [uri] && new.entry("Third")?.texts(.password) == ["pw 2"])
  }
}
