import Testing
import VaultWire

@testable import VaultImport

@Suite("Aegis") struct AegisTests {
  private typealias Stand = AuthenticatorStand

  @Test("every account, its groups, its note and its settings are read") func plain() throws {
    let read = try Stand.read(AegisReader.self, Stand.file("aegis-plain.json"))
    #expect(read.format?.name == "aegis" && read.format?.detail == "vault of Aegis")
    let secret = Stand.secret
    #expect(
      read.told == [
        "one-time Work/GitHub (ana@example.org)",
        "  otpauth [one-time] otpauth://totp/GitHub:ana%40example.org?secret=\(secret)&issuer=GitHub",
        "  group [tag] Code", "  note [note] the work account\nsecond line", "  favorite [setting] true",
        "one-time Work/Bank: ü/x (ana)",
        "  otpauth [one-time] otpauth://totp/ana?secret=\(secret)&issuer=Bank%3a%20%c3%bc%2fx&algorithm=SHA512"
          + "&digits=8&period=60",
        "  icon [setting] /9j/IGljb24=", "  icon_mime [setting] image/jpeg",
        "  icon_hash [setting] \(String(repeating: "ab", count: 32))",
        "one-time Server (bob)",
        "  otpauth [one-time] otpauth://hotp/Server:bob?secret=\(secret)&issuer=Server&algorithm=SHA256&digits=7"
          + "&counter=42",
        "one-time Steam (gabe)",
        "  otpauth [one-time] otpauth://totp/Steam:gabe?secret=\(secret)&issuer=Steam&digits=5&encoder=steam",
        "document Mobile (mo)", "  issuer [text] Mobile", "  account [text] mo",
        #"  motp [document] {"type":"motp","secret":"AERUKZ4JVPG66","algo":"MD5","digits":6,"period":10,"pin":"1234"}"#,
        "  type [setting] vault makes no codes of the type 'motp', so the secret is kept as it is, as JSON",
        "document Yandex (ya)", "  issuer [text] Yandex", "  account [text] ya",
        #"  yandex [document] {"type":"yandex","secret":"5IIH3EDJIGZI3YIOIIPGP2Y3LI","algo":"SHA256","digits":8,"#
          + #""period":30,"pin":"5678"}"#,
        "  type [setting] vault makes no codes of the type 'yandex', so the secret is kept as it is, as JSON",
        "  note [note] of Yandex",
        "one-time Only", "  otpauth [one-time] otpauth://totp/Only?secret=\(secret)&issuer=Only",
        "  group [setting] 99999999-0000-4000-8000-000000000000",
        "document Digits (ten)", "  issuer [text] Digits", "  account [text] ten",
        #"  totp [document] {"type":"totp","secret":"\#(secret)","algo":"SHA1","digits":10,"period":30}"#,
        "  type [setting] vault makes codes of 6 to 8 digits, so the secret is kept as it is, as JSON",
        "  usage [setting] 3",
        "login Aegis", "  icons_optimized [setting] true",
      ])
    #expect(read.entries.first?.id == "00000001-0000-4000-8000-000000000000")
  }

  @Test("any of the passwords opens an encrypted vault, and a wrong one is asked for again") func encrypted() throws {
    let bytes = try Stand.file("aegis-encrypted.json")
    let plain = try Stand.read(AegisReader.self, Stand.file("aegis-plain.json"))
    let read = try Stand.read(AegisReader.self, bytes, "wrong", "", Stand.password)
    #expect(read.told == plain.told && read.questions == [false, true, true])
    #expect(read.format?.detail == "vault of Aegis, scrypt with 32 MiB")
    let backup = try Stand.read(AegisReader.self, bytes, "backup")
    #expect(backup.told == plain.told)
    #expect(Stand.failure(AegisReader.self, bytes)?.code == .noSecret)
    #expect(Stand.failure(AegisReader.self, bytes, "wrong") == ImportFailure(.wrongSecret, "the password is wrong"))
  }

  @Test(
    "parameters that ask for too much, or make no sense, are errors before the password is asked for",
    arguments: [
      (#""n": 16"#, #""n": 2097152"#, ImportFailure.Code.tooLarge), (#""n": 16"#, #""n": 1073741824"#, .tooLarge),
      (#""n": 16"#, #""n": 17"#, .damaged), (#""n": 16"#, #""n": 0"#, .damaged), (#""n": 16"#, #""n": -1"#, .damaged),
      (#""n": 16"#, #""n": 1e3"#, .damaged), (#""r": 8"#, #""r": 16"#, .unsupported),
      (#""p": 1"#, #""p": 0"#, .damaged),
      (#""n": 16,"#, #""n": 1048576,"p2":0,"#, .noSecret), (#""p": 1"#, #""p": 1025"#, .damaged),
      (#""type": 1"#, #""type": 2"#, .unsupported), (#""salt": ""#, #""salt": "x"#, .damaged),
      (#""version": 1"#, #""version": 2"#, .unsupported), (#""db": ""#, #""db": "!"#, .damaged),
    ])
  func limits(_ text: String, _ changed: String, _ code: ImportFailure.Code) throws {
    let whole = String(decoding: try Stand.file("aegis-small.json"), as: UTF8.self)
    let parts = whole.split(separator: text, maxSplits: 1, omittingEmptySubsequences: false)
    try #require(parts.count == 2)
    let failure = Stand.failure(AegisReader.self, Array(parts.joined(separator: changed).utf8))
    #expect(failure?.code == code, "\(String(describing: failure))")
  }

  @Test("the option for more memory is named, and allows it") func memory() throws {
    let whole = String(decoding: try Stand.file("aegis-small.json"), as: UTF8.self)
    let large = Array(whole.replacing(#""n": 16"#, with: #""n": 2097152"#).utf8)
    let reason =
      "the vault of Aegis asks for 2 GiB of memory to make its key, and the limit is 1 GiB; "
      + "--kdf-memory 2048m raises it"
    #expect(Stand.failure(AegisReader.self, large)?.reason == reason)
    var sink = try ReadEntries(AegisReader.self, [Source.File("a", try Stand.file("aegis-plain.json"))])
    let source = Source([Source.File("a", large)], kdfMemory: 2 << 30) { _ throws(ImportFailure) in nil }
    #expect(throws: ImportFailure(.noSecret, "the export has a password")) {
      try AegisReader.read(source, into: &sink)
    }
  }

  @Test("groups of version 2 are names, and unknown members are kept") func versions() throws {
    let entry = #"{"type":"totp","name":"n","issuer":"","group":"g","info":{"secret":"JBSWY3DP","new":"x"},"more":[1]}"#
    let text = #"{"version":1,"header":{},"db":{"version":2,"entries":[\#(entry)]}}"#
    #expect(
      try ReadEntries(AegisReader.self, text).told == [
        "one-time g/n", "  otpauth [one-time] otpauth://totp/n?secret=JBSWY3DP", "  more [document] [1]",
        "  new [secret] x",
      ])
    for (content, reason) in [
      (#"{"version":4,"entries":[]}"#, "the content is of version 4, and versions up to 3 are read"),
      (#"{"version":3}"#, "the file has no 'entries'"), (#"{"version":3,"entries":[1]}"#, "entry 1 is no object"),
      (#"{}"#, "the content has no version"),
    ] {
      #expect(refusal(AegisReader.self, #"{"version":1,"header":{},"db":\#(content)}"#) == reason)
    }
  }

  @Test("a vault is recognized by its members") func recognition() throws {
    for name in ["aegis-plain.json", "aegis-encrypted.json"] {
      let text = String(decoding: try Stand.file(name), as: UTF8.self)
      #expect(FileFormat.guess(Source([Source.File("a", Array(text.utf8))]) { _ in nil }) == .aegis)
    }
    #expect(!recognizes(AegisReader.self, #"{"version":1,"header":{}}"#) && !recognizes(AegisReader.self, "["))
  }

  @Test("no damaged file crashes the reader, and no truncation goes unnoticed") func damaged() throws {
    let text = String(decoding: try Stand.file("aegis-plain.json"), as: UTF8.self)
    attack(AegisReader.self, String(text.prefix(700)) + "]}}")
    try Stand.attackSealed(AegisReader.self, "aegis-small.json")
  }
}
