import Foundation
import Testing
import VaultWire

@testable import VaultImport

@Suite("The folder of ssh") struct SSHFolderTests {
  /// A file that ssh-keygen (OpenSSH 9.2) or OpenSSL 3.0 made.
  private static func file(_ name: String, as path: String? = nil) throws -> Source.File {
    let url = try #require(Bundle.module.url(forResource: "Files/ssh-\(name)", withExtension: nil))
    return Source.File(path ?? name, Array(try Data(contentsOf: url)), modified: 1_700_000_000)
  }

  /// The entries, each with its fields but the key itself.
  private static func told(_ files: [Source.File]) throws -> [String] {
    try ReadEntries(SSHFolderReader.self, files).told.filter { !$0.contains("[modified]") }.compactMap { line in
      line.contains("[password]") || line.contains("-----BEGIN") ? nil : String(line.prefix { $0 != "\n" }.prefix(90))
    }
  }

  private static let agrees = "[setting] it agrees with the private key, from which `vault pubkey` mak"

  @Test(
    "a private key of any form is stored whole, and the public half beside it is compared",
    arguments: [
      ("ed25519", "ana@desk"), ("ec-pem", "c"), ("ec-pkcs8", "p8"), ("rsa-pem", "p"), ("rsa-pkcs8", "p8"),
    ])
  func forms(_ name: String, _ comment: String) throws {
    let files = [try Self.file(name), try Self.file("\(name).pub")]
    let entry = try #require(try ReadEntries(SSHFolderReader.self, files).entries.first)
    #expect(entry.kind == .sshKey && entry.fields.contains { $0.role == .password && $0.value == files[0].bytes })
    let told = try Self.told(files)
    #expect(told.prefix(2) == ["ssh-key ssh/\(name)", "  comment [text] \(comment)"] && told.count == 3)
    #expect(told.last?.hasPrefix("  \(name).pub \(Self.agrees)".prefix(70)) == true)
  }

  @Test("a key with a passphrase is kept as it is, with its public half", arguments: ["protected", "protected-pkcs8"])
  func protected(_ name: String) throws {
    let told = try Self.told([try Self.file(name), try Self.file("\(name).pub")])
    #expect(told.count == 4 && told[0] == "note ssh/\(name)")
    #expect(told[1].hasPrefix("  passphrase [setting] the key is kept as a text, protected by its passphrase"))
    #expect(told[3].hasPrefix("  public-key [text] ssh-"))
  }

  @Test("a public half of another key, of another type or without its key is told") func publicHalves() throws {
    let other = [try Self.file("ed25519"), try Self.file("rsa-pem.pub", as: "ed25519.pub")]
    let another = "  ed25519.pub [setting] it is the public half of another key"
    #expect(try Self.told(other).last?.hasPrefix(another) == true)
    let dsa = try Self.told([try Self.file("dsa"), try Self.file("dsa.pub")])
    #expect(
      dsa[0] == "note ssh/dsa" && dsa[1].hasPrefix("  type [setting] the key is kept as a text, because the vault"))
    let alone = try Self.told([try Self.file("ed25519-pkcs8"), try Self.file("ed25519-cert.pub", as: "x-cert.pub")])
    #expect(alone[0] == "ssh-key ssh/ed25519-pkcs8" && alone[1] == "value x-cert.pub")
    #expect(alone[2].hasPrefix("  x-cert.pub [setting] it is a certificate of a public key"))
    let line = [try Self.file("ed25519"), try Self.file("ec-pem.pub", as: "lonely.pub")]
    #expect(try Self.told(line).last?.contains("its private half is not in the folder") == true)
  }

  @Test("the other files are listed, folders are kept, and a key of PuTTY is kept as a text") func others() throws {
    let texts = [
      ("config", "Host *"), ("known_hosts", "h ssh-rsa AAAA"), ("authorized_keys", "k"),
      ("k.ppk", "PuTTY-User-Key-File-3: x"), ("broken", "-----BEGIN RSA PRIVATE KEY-----\nMIIE"),
    ]
    let files = [try Self.file("ed25519", as: "work/id")] + texts.map { Source.File($0.0, Array($0.1.utf8)) }
    let told = try Self.told(files)
    #expect(
      told.filter { !$0.hasPrefix("  ") } == [
        "ssh-key ssh/work/id", "note ssh/k.ppk", "note ssh/broken", "value config", "value known_hosts",
        "value authorized_keys",
      ])
    #expect(told.contains("  k.ppk [note] PuTTY-User-Key-File-3: x"))
    #expect(told.contains("  config [setting] it has the settings of ssh, which stay where they are"))
  }

  @Test("a key alone and a folder with a key are recognized") func recognized() throws {
    func recognizes(_ files: [Source.File]) -> Bool {
      SSHFolderReader.recognizes(Source(files) { (_) throws(ImportFailure) in nil })
    }
    let (curve, rsa) = (try Self.file("ec-pkcs8"), try Self.file("rsa-pkcs8"))
    #expect(recognizes([try Self.file("ed25519")]))
    #expect(recognizes([curve, try Self.file("ec-pkcs8.pub")]))
    let nested = try ["a/id", "b/id"].map { try Self.file("ed25519", as: $0) }
    #expect(recognizes(nested) && !recognizes(nested + [Source.File("notes", [0x61])]))
    #expect(!recognizes([try Self.file("ed25519"), Source.File(".netrc", Array("machine h".utf8))]))
    #expect(!recognizes([rsa]) && !recognizes([curve, rsa]) && !recognizes([]))
    #expect(refusal(SSHFolderReader.self, "x") == "the file has no private key")
  }

  @Test("no damaged key crashes the reader", arguments: ["ed25519", "ec-pem", "ec-pkcs8"])
  func attacked(_ name: String) throws {
    let text = String(decoding: try Self.file(name).bytes, as: UTF8.self)
    attack(SSHFolderReader.self, text)
  }
}
