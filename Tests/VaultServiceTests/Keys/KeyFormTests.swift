import Testing
import VaultBytes
import VaultCore
import VaultModel

@testable import VaultService

@Suite("A key of plain bytes") struct KeyFormTests {
  /// The public key of an RSA key (RFC 8017 appendix A.1.1), of a size that nobody uses.
  private static let rsaPublic: [UInt8] = [0x30, 7, 2, 2, 0x7F, 0xFF, 2, 1, 3]
  /// An Ed25519 key in PKCS #8 (RFC 8410 section 7), and its public key (section 4).
  private static let ed25519: [UInt8] =
    [0x30, 0x2E, 2, 1, 0, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 4, 0x22, 4, 0x20] + (1...32)
  private static let ed25519Public: [UInt8] = [0x30, 0x2A, 0x30, 5, 6, 3, 0x2B, 0x65, 0x70, 3, 0x21, 0] + (1...32)
  private static let pem = "-----BEGIN PRIVATE KEY-----\n\(ed25519.base64)\n-----END PRIVATE KEY-----\n"
  private static let indented = pem.split(separator: "\n").map { "  \($0)\n" }.joined()
  private static let line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g a@b"

  private static func form(_ bytes: [UInt8]) -> KeyForm? { KeyForm(of: unsafe bytes.span.bytes) }

  private static func form(_ text: String) -> KeyForm? { form(Array(text.utf8)) }

  /// Returns the reason why a value is refused for a use; nil if it is accepted.
  private static func reason(_ use: KeyUse, _ value: [UInt8]) -> String? {
    do throws(ValueError) {
      _ = try KeyCheck.publicKey(use, unsafe value.span.bytes, [:])
      return nil
    } catch { return error.reason }
  }

  /// Encodes a text in UTF-16 of either byte order.
  private static func wide(_ text: String, isBig: Bool) -> [UInt8] {
    text.utf16.flatMap { isBig ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
  }

  @Test("is no PEM, wherever it begins and however it is written") func pems() {
    for text in [Self.pem, "a comment\n\(Self.pem)", Self.indented, "\u{FEFF}\(Self.pem)", "x-----BEGIN"] {
      #expect(Self.form(text) == .pem, "\(text)")
    }
    for isBig in [false, true] {
      let text = Self.wide(Self.pem, isBig: isBig)
      #expect(Self.form(text) == .wideText && Self.form([0xFF, 0xFE] + text) == .wideText)
    }
  }

  @Test("is no DER of a key") func der() {
    for key in [Self.ed25519, Self.ed25519Public, Self.rsaPublic] {
      #expect(Self.form(key) == .der)
      for count in 0..<key.count { #expect(Self.form(Array(key.prefix(count))) == nil) }
      #expect(Self.form(key + [0]) == nil)
    }
    // A list of one element, of elements other than a key's, of nothing, or with a length beyond its end.
    for other: [UInt8] in [
      [0x30, 3, 2, 1, 0], [0x30, 6, 4, 1, 0, 4, 1, 0], [0x30, 0], [0x30, 6, 2, 1, 0, 2, 2, 0],
      [0x31, 6, 2, 1, 0, 2, 1, 0],
    ] { #expect(Self.form(other) == nil) }
  }

  @Test("is no public key of OpenSSH's and no JSON Web Key") func texts() {
    for text in [
      Self.line, " \n\(Self.line)\n", "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY=",
      "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t",
    ] { #expect(Self.form(text) == .openSSH, "\(text)") }
    for text in [
      #"{"kty":"oct","k":"AAAA"}"#, #" { "k" : "kty", "kty" : "oct" }"#, #"{"keys":[{"kty":"OKP"}]}"#, #"{"kty":"#,
    ] { #expect(Self.form(text) == .jwk, "\(text)") }
  }

  @Test("is anything else") func others() {
    for text in [
      "", "-", "-----BEGI", "sk-live-0123456789abcdef0123456789abcdef", "ssh-secret of more than thirty-two bytes",
      "ssh-ed25519", "ssh-", #"{"k":"AAAA","x":"kty"}"#, #"["kty"]"#, #""kty":"oct""#, "{", "AAAAC3NzaC1lZDI1NTE5",
    ] { #expect(Self.form(text) == nil, "\(text)") }
    for count in [16, 32, 48, 64, 200, 4096] {
      for _ in 0..<200 { #expect(Self.form(RandomBytes.array(count: count)) == nil) }
    }
  }

  @Test("is told from keys where it is stored, by what it is and without a byte of it") func stored() throws {
    let values = [
      Self.ed25519, Self.ed25519Public, Array(Self.line.utf8), Array(#"{"kty":"oct","k":"secretsecretsecret"}"#.utf8),
      Array(Self.indented.utf8), Self.wide(Self.pem, isBig: false),
    ]
    for value in values {
      let form = try #require(Self.form(value)).rawValue
      for use in [KeyUse.mac, .jwt] {
        let reason = try #require(Self.reason(use, value))
        #expect(reason.contains("is plain bytes, and this is \(form): give"))
        #expect(!reason.contains("secret") && !reason.contains("MC4C") && !reason.contains("AAAA"))
      }
    }
    // PEM is a private key for tokens, but not the plain bytes that a keyed hash needs.
    #expect(Self.reason(.jwt, Array(Self.pem.utf8)) == nil)
    #expect(Self.reason(.mac, Array(Self.pem.utf8))?.contains("this is PEM") == true)
    for use in [KeyUse.mac, .jwt] { #expect(Self.reason(use, RandomBytes.array(count: 32)) == nil) }
  }
}
