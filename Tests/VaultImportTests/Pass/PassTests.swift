import Testing
import VaultWire

@testable import VaultImport

@Suite("Password stores") struct PassTests {
  /// Reads one file of a store.
  private func read(_ text: String, _ path: String = "web/x.gpg") throws -> [String] {
    Array(try ReadEntries(PassReader.self, text, name: path).told.dropFirst())
  }

  private func kind(_ text: String) throws -> ImportKind {
    let entry = try #require(try ReadEntries(PassReader.self, text, name: "x.gpg").entries.first)
    return ImportKind(entry)
  }

  /// The kind of an entry and the roles of its fields.
  private struct ImportKind: Equatable {
    let text: String
    init(_ text: String) { self.text = text }
    init(_ entry: Entry) {
      let roles = entry.fields.map(\.role).filter { ![.title, .identifier].contains($0) }
      text = ([entry.kind.rawValue] + roles.map(\.rawValue)).joined(separator: " ")
    }
  }

  @Test("the path makes the folder, the title and the identification") func names() throws {
    let files = ["bank/ubs ü.gpg", "simple.gpg", "a/b/c.d.gpg"].map {
      Source.File($0, Array("pw".utf8), modified: 1_700_000_000)
    }
    let read = try ReadEntries(PassReader.self, files)
    #expect(read.format?.name == "pass" && read.format?.detail == "password store, 3 files")
    #expect(read.entries.map(\.title) == ["ubs ü", "simple", "c.d"])
    #expect(read.entries.map(\.folder) == [["bank"], [], ["a", "b"]])
    #expect(read.entries.map(\.id) == ["bank/ubs ü", "simple", "a/b/c.d"])
    #expect(
      read.told.filter { $0.hasPrefix("  ") }.prefix(2) == [
        "  password [password] pw", "  modified [modified] 1700000000",
      ])
  }

  @Test("the first line is the password, to its last blank", arguments: ["pw", "pw\n", "pw\r\n", "\u{FEFF}pw\n\n\n"])
  func password(_ text: String) throws {
    #expect(try read(text) == ["  password [password] pw"])
    #expect(try read(" p: w \n") == ["  password [password]  p: w "])
    #expect(try read("") == [] && read("\n") == [])
  }

  @Test("the example of pass(1) has a URL, a user and protected texts") func manual() throws {
    let text = """
      Yw|ZSNH!}z"6{ym9pI
      URL: *.amazon.com/*
      Username: AmazonianChicken@example.com
      Secret Question 1: What was it? Oh god, Amazon, it's too awful to say...
      Phone Support PIN #: 84719
      """
    #expect(
      try read(text) == [
        "  password [password] Yw|ZSNH!}z\"6{ym9pI", "  URL [url] *.amazon.com/*",
        "  Username [username] AmazonianChicken@example.com",
        "  Secret Question 1 [secret] What was it? Oh god, Amazon, it's too awful to say...",
        "  Phone Support PIN # [secret] 84719",
      ])
  }

  @Test("keys that Browserpass knows need no blank, and other lines are the note with its line breaks") func lines()
    throws
  {
    let long = String(repeating: "k", count: 65)
    let text =
      "\nuser:bob\nemail: b@x\nurl:https://a.b/c\nhttps://bare.example/x\n\n  indented: no key\nsome text: of a field\n"
      + "\(long): long\nempty:\nend\n\n"
    #expect(
      try read(text) == [
        "  user [username] bob", "  email [text] b@x", "  url [url] https://a.b/c", "  some text [text] of a field",
        "  note [note] https://bare.example/x\n\n  indented: no key\n\(long): long\nempty:\nend",
      ])
    #expect(try read("p\nemail: only@x").last == "  email [username] only@x")
    #expect(try read("p\npassword: other") == ["  password [password] p", "  password [secret] other"])
    #expect(try read("\npass: other\nmore: 1") == ["  pass [password] other", "  more [text] 1"])
  }

  @Test("one-time secrets are found in lines of their own, after a key, and as the only line") func oneTime() throws {
    let uri = "otpauth://totp/x:y?secret=JBSWY3DPEHPK3PXP"
    #expect(
      try read("pw\n\(uri)\ntotp: JBSW Y3DP\notp: what?\n") == [
        "  password [password] pw", "  totp [one-time] otpauth://totp/x?secret=JBSWY3DP", "  otp [one-time] what?",
        "  otpauth [one-time] \(uri)",
      ])
    #expect(try kind("\(uri)\n") == ImportKind("one-time one-time"))
    #expect(try kind("\(uri)\nuser: me\n") == ImportKind("login username one-time"))
    #expect(try kind("pw\notpauth://totp/x\n") == ImportKind("login password one-time"))
  }

  @Test("what gopass writes: YAML stays a note, MIME headers are fields, a file in base64 is an attachment")
  func gopass() throws {
    #expect(
      try read("pw\nuser: me\nbody\n---\nkey: value\nlist:\n  - a: b\n") == [
        "  password [password] pw", "  user [username] me", "  note [note] body\n---\nkey: value\nlist:\n  - a: b",
      ])
    #expect(try kind("---\nkey: value\n") == ImportKind("note note"))
    #expect(
      try read("GOPASS-SECRET-1.0\nPassword: mime pw\nUsername: joe\n\nlast\n") == [
        "  Password [password] mime pw", "  Username [username] joe", "  note [note] last",
      ])
    let file = "\ncontent-disposition: attachment; filename=\"logo.png\"\ncontent-transfer-encoding: Base64\naGVsbG8=\n"
    #expect(try read(file) == ["  logo.png [attachment] hello"])
    #expect(try kind(file) == ImportKind("value attachment"))
  }

  @Test("binary files are attachments, and private keys are keys as a whole") func wholeFiles() throws {
    let read = try ReadEntries(
      PassReader.self, [Source.File("bin/ls.gpg", [0x7F, 0x45, 0, 1]), Source.File("e.gpg", [0xFF])])
    #expect(read.entries.map(\.kind) == [.value, .value])
    #expect(read.entries[0].fields.last?.value == [0x7F, 0x45, 0, 1] && read.entries[0].fields.last?.name == "ls")
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n-----END OPENSSH PRIVATE KEY-----\n"
    #expect(try kind(key) == ImportKind("key password"))
    #expect(try self.read(key) == ["  key [password] \(key)"])
    #expect(try kind("-----BEGIN CERTIFICATE-----\nMII\n") == ImportKind("note note"))
  }

  @Test("other files of the store are told, and none is imported") func others() throws {
    let files = [Source.File("a.gpg", []), Source.File("docs/README", Array("hi".utf8))]
    #expect(
      try ReadEntries(PassReader.self, files).told == [
        "login a", "value docs/README",
        "  README [attachment] the file is not encrypted, so it is no entry of the store",
      ])
    #expect(refusal(PassReader.self, "x") == "no file of the password store ends in .gpg")
    #expect(recognizes(PassReader.self, "x", name: "b/x.gpg") && !recognizes(PassReader.self, "x", name: "gpg"))
  }

  @Test("a folder is no store because a key of OpenPGP lies in it") func otherFolders() {
    func recognizes(_ files: [(String, [UInt8])]) -> Bool {
      PassReader.recognizes(Source(files.map { Source.File($0.0, $0.1) }) { (_) throws(ImportFailure) in nil })
    }
    #expect(recognizes([("a.gpg", [0x61]), ("b/ü.gpg", Array("ü".utf8))]))
    #expect(!recognizes([("apt/trusted.gpg.d/x.gpg", [0x61]), ("hosts", [0x61])]) && !recognizes([]))
    // Without the folder of the whole store, nobody has decrypted them.
    #expect(!recognizes([("x.gpg", [0x99, 0x01])]) && !recognizes([("x.gpg", [0x85, 0x01])]))
    #expect(!recognizes([("x.gpg", Array("-----BEGIN PGP MESSAGE-----\n".utf8))]))
  }

  @Test("large parts are refused with their sizes, and very many pairs stay in the note") func large() throws {
    let long = String(repeating: "x", count: (1 << 20) + 1)
    let room = "it has 1048577 bytes, and an item has room for 1 MiB"
    #expect(try read(long) == ["  password [password] \(room)"])
    #expect(try read("p\nkey: \(long)\n\(long)").dropFirst() == ["  key [secret] \(room)", "  note [note] \(room)"])
    let pairs = String(repeating: "a: b\n", count: 5000)
    #expect(try read("p\n\(pairs)").count == 2002)
    let deep = String(repeating: "f/", count: 100) + "x.gpg"
    let entry = try #require(try ReadEntries(PassReader.self, "p", name: deep).entries.first)
    #expect(entry.folder.count == 64 && entry.folder.joined(separator: "/") + "/x.gpg" == deep)
  }

  @Test("no damaged file crashes the reader") func damaged() {
    attack(PassReader.self, "p\nuser:ü\notp: JBSWY3DP\nkey: v: w\n\n---\nx: y", name: "a.gpg")
    attack(
      PassReader.self,
      "\ncontent-disposition: attachment; filename=\"l\"\ncontent-transfer-encoding: Base64\naGVsbG8=\n",
      name: "a.gpg")
  }

  @Test("a store of passage is read in the same way, and never while it is encrypted") func passage() throws {
    let file = Source.File("web/x.age", Array("pw\nuser: me\n".utf8))
    let read = try ReadEntries(PassageReader.self, [file])
    #expect(read.told == ["login web/x", "  password [password] pw", "  user [username] me"])
    #expect(read.format?.name == "passage" && read.entries[0].id == "web/x")
    #expect(recognizes(PassageReader.self, "pw", name: "x.age") && !recognizes(PassageReader.self, "pw", name: "x"))
    for header in ["age-encryption.org/v1\n-> X25519 x\n", "-----BEGIN AGE ENCRYPTED FILE-----\nx\n"] {
      #expect(!recognizes(PassageReader.self, header, name: "x.age"))
      #expect(throws: ImportFailure.self) { try ReadEntries(PassageReader.self, header, name: "x.age") }
    }
  }
}
