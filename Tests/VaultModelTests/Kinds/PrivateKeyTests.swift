import Foundation
import Testing
import VaultBytes

@testable import VaultModel

@Suite("Private keys")
struct PrivateKeyTests {
  @Test(
    "TLS keys as OpenSSL writes them are accepted",
    arguments: [
      "tls-ed25519.pem", "tls-rsa.pem", "tls-ec-parameters.pem", "tls-with-certificate.pem",
    ])
  func tls(name: String) throws {
    #expect(throws: Never.self) { try ItemKind.tlsKey.check(Fixture.text(name)) }
    let crlf = try Fixture.text(name).replacing("\n", with: "\r\n")
    #expect(throws: Never.self) { try ItemKind.tlsKey.check(crlf) }
  }

  @Test(
    "A TLS key that is encrypted is refused, and told what takes the passphrase away",
    arguments: ["encrypted-ec-headers.pem", "encrypted-pkcs8.pem"])
  func encrypted(name: String) throws {
    let error = try #require(throws: ValueError.self) { try ItemKind.tlsKey.check(Fixture.text(name)) }
    #expect(error.reason.contains("is encrypted with a passphrase") && error.reason.contains("openssl pkey"))
  }

  @Test(
    "A key in another form is told by its name, with the way to the right one", arguments: [ItemKind.tlsKey, .sshKey])
  func forms(kind: ItemKind) throws {
    let key = try Fixture.text(kind == .tlsKey ? "tls-rsa.pem" : "ssh-ed25519")
    let der = try #require(try Fixture.decoded(Fixture.bytes("KindFuzz", "tls-rsa.pem")))
    let utf16 = key.utf8.flatMap { [$0, UInt8(0)] }
    let cases: [(value: [UInt8], form: String)] = [
      (Array("\u{FEFF}\(key)".utf8), "byte order mark"), ([0xFF, 0xFE] + utf16, "UTF-16"), (utf16, "UTF-16"),
      ([0xFE, 0xFF] + key.utf8.flatMap { [UInt8(0), $0] }, "UTF-16"),
      (Array(key.replacing("\n", with: #"\n"#).utf8), #"spelled \n"#),
      (Array(#""\#(key.replacing("\n", with: #"\r\n"#))""#.utf8), #"spelled \n"#),
      (Array(("  " + key.replacing("\n", with: "\n  ")).utf8), "indented"),
      (Array(("\t" + key.replacing("\n", with: "\n\t")).utf8), "indented"),
      (Array("> \(key.replacing("\n", with: "\n> "))".utf8), "quoted mail"),
      (Array("# \(key.replacing("\n", with: "\n# "))".utf8), "a comment"),
      (Array("\u{A0} \(key.replacing("\n", with: "\n\u{A0} "))".utf8), "begin with marks"),
      (Array("key: \(key)".utf8), "other text stands before -----BEGIN"),
      (Array("- \(key)".utf8), "other text stands before -----BEGIN"),
      (Array("my key: \(key.replacing("\n", with: " "))".utf8), "one line"),
      (Array("\"\(key)\"".utf8), "quotation marks"), (Array(key.replacing("\n", with: " ").utf8), "one line"),
      (Array("PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n".utf8), "puttygen KEY -O private-openssh"),
      (Array("PuTTY-User-Key-File-2: ssh-rsa\r\n".utf8), "PuTTY key"),
      (Array("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGYx ana@home\n".utf8), "public key (.pub)"),
      (Array("ecdsa-sha2-nistp256 AAAAE2Vj x".utf8), "public key (.pub)"),
      (Array("---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n".utf8), "public key"),
      (Array("-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n".utf8), "public key"),
      (der, "DER"),
    ]
    for (value, form) in cases {
      let error = #expect(throws: ValueError.self, "\(form)") { try kind.check(value) }
      #expect(error?.reason.contains(form) == true, "\(form): \(error?.reason ?? "")")
    }
  }

  @Test("A fault of a key is told although a line above it mentions the first line of one") func mentioned() throws {
    let text = try "# all from -----BEGIN PRIVATE KEY----- on\n" + Fixture.text("encrypted-pkcs8.pem")
    let error = try #require(throws: ValueError.self) { try ItemKind.tlsKey.check(text) }
    #expect(error.reason.contains("is encrypted with a passphrase"))
  }

  @Test("A certificate in such a form is, too") func certificateForms() throws {
    let text = try Fixture.text("certificate-utctime.pem")
    for (value, form) in [("\u{FEFF}" + text, "byte order mark"), (text.replacing("\n", with: #"\n"#), #"spelled \n"#)]
    {
      let error = #expect(throws: ValueError.self) { try ItemKind.certificate.check(value) }
      #expect(error?.reason.contains(form) == true, "\(error?.reason ?? "")")
    }
  }

  @Test(
    "SSH keys as ssh-keygen writes them are accepted, and in PEM",
    arguments: ["ssh-ed25519", "ssh-ed25519-gcm", "tls-rsa.pem", "tls-ec-parameters.pem", "encrypted-pkcs8.pem"])
  func ssh(name: String) throws {
    #expect(throws: Never.self) { try ItemKind.sshKey.check(Fixture.text(name)) }
  }

  @Test(
    "Every truncation of a key is refused, up to its last line's end",
    arguments: [
      ("tls-ed25519.pem", ItemKind.tlsKey), ("tls-ec-parameters.pem", .tlsKey), ("ssh-ed25519", .sshKey),
      ("ssh-ed25519-gcm", .sshKey),
    ])
  func truncation(name: String, kind: ItemKind) throws {
    let bytes = try Fixture.bytes("KindFuzz", name)
    for count in 0..<bytes.count - 1 {
      #expect(throws: ValueError.self, "\(count) bytes") { try kind.check(Array(bytes.prefix(count))) }
    }
  }

  @Test(
    "A key with a line missing is refused",
    arguments: [("tls-rsa.pem", ItemKind.tlsKey), ("ssh-ed25519", .sshKey)])
  func missingLine(name: String, kind: ItemKind) throws {
    let lines = try Fixture.text(name).split(separator: "\n")
    for missing in lines.indices {
      let rest = lines.indices.filter { $0 != missing }.map { lines[$0] }.joined(separator: "\n")
      #expect(!kind.accepts(rest), "line \(missing)")
    }
  }

  @Test("A value without a key says so, as do two keys and the wrong kind of key")
  func wrongBlocks() throws {
    let tls = try Fixture.text("tls-ed25519.pem")
    let ssh = try Fixture.text("ssh-ed25519")
    let certificate = try Fixture.text("certificate-utctime.pem")
    for kind in [ItemKind.tlsKey, .sshKey] {
      #expect(!kind.accepts("") && !kind.accepts("hunter2\n") && !kind.accepts(tls + tls))
    }
    #expect(!ItemKind.tlsKey.accepts(certificate) && !ItemKind.sshKey.accepts(certificate))
    #expect(!ItemKind.sshKey.accepts(tls + certificate))
    let error = #expect(throws: ValueError.self) { try ItemKind.tlsKey.check(ssh) }
    #expect(error?.reason == "an OpenSSH key is not a TLS key; store it as ssh-key")
    #expect(!ItemKind.tlsKey.accepts(tls.replacing("PRIVATE", with: "PUBLIC")))
  }

  @Test("An OpenSSH key whose inner lengths do not add up is refused")
  func innerLengths() throws {
    let key = try #require(try Fixture.decoded(Fixture.bytes("KindFuzz", "ssh-ed25519")))
    func accepts(_ key: [UInt8]) -> Bool {
      ItemKind.sshKey.accepts(armour("OPENSSH PRIVATE KEY", key))
    }
    #expect(accepts(key))
    for count in 0..<key.count { #expect(!accepts(Array(key.prefix(count))), "\(count) bytes") }
    #expect(!accepts(key + [UInt8](repeating: 0, count: 17)))
    for index in 0..<19 {
      // The first bytes are the magic string and the high bytes of the cipher's length.
      var damaged = key
      damaged[index] ^= index < 15 ? 1 : 0x40
      #expect(!accepts(damaged), "byte \(index)")
    }
    // The number of keys stands behind the magic string, "none" twice, and the empty options; OpenSSH knows only 1.
    #expect(Array(key[35..<39]) == [0, 0, 0, 1])
    for number: UInt8 in [0, 2] { #expect(!accepts(Array(key[..<38]) + [number] + Array(key[39...]))) }
  }

  private func armour(_ label: String, _ bytes: [UInt8]) -> String {
    "-----BEGIN \(label)-----\n\(Data(bytes).base64EncodedString())\n-----END \(label)-----\n"
  }
}
