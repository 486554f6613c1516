import Testing
import VaultModel

@Suite("The kind that a value looks like") struct LikelyKindTests {
  private func kind(_ text: String) -> ItemKind? { LikelyKind(of: unsafe Array(text.utf8).span.bytes)?.kind }

  @Test(
    "is told of what is more than a password by how it begins",
    arguments: [
      ("otpauth://totp/x", .totp), ("OTPAUTH://", .totp), ("\u{FEFF} otpauth://hotp/", .totp), ("WIFI:S:x;;", .wifi),
      ("wifi:T:WPA;S:x;P:y;;", .wifi), ("-----BEGIN OPENSSH PRIVATE KEY-----\n", .sshKey),
      ("-----BEGIN PRIVATE KEY-----\n", .tlsKey), ("-----BEGIN EC PRIVATE KEY-----", .tlsKey),
      ("text\n-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n", .certificate),
      ("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n-----BEGIN RSA PRIVATE KEY-----\n", .tlsKey),
      ("-----BEGIN PGP MESSAGE-----\n", .note), ("hunter2", nil), ("", nil), ("my otpauth://", nil),
      ("-----BEGIN", nil),
      ("correct-horse--battery", nil), ("otpauth:/", nil),
    ] as [(String, ItemKind?)])
  func kinds(text: String, expected: ItemKind?) { #expect(kind(text) == expected) }

  @Test("the text of a network's QR code is taken apart, and is what was put together") func network() throws {
    for (attributes, passphrase) in [
      (["ssid": #"a;b:c\,"x"#, "security": "SAE", "hidden": "true"], #"pass;\word:,"1"#),
      (["ssid": "net"], "long enough"),
      (["ssid": "open", "security": "nopass"], ""), (["ssid": "old", "security": "WEP"], "abcde"),
    ] {
      var text: [UInt8] = []
      try WiFiURI.write(attributes: attributes, passphrase: unsafe Array(passphrase.utf8).span.bytes) {
        text.append($0)
      }
      let read = try #require(WiFiText(unsafe text.span.bytes))
      var back: [UInt8] = []
      unsafe read.writePassphrase(from: text.span.bytes) { back.append($0) }
      #expect(read.attributes == attributes && String(decoding: back, as: UTF8.self) == passphrase)
    }
  }

  @Test("every beginning of such a text is looked at without a fault, and one without a network is none")
  func beginnings() {
    let text = Array(#"WIFI:T:WPA;S:a\;b;P:pa\\ss;H:true;;"#.utf8)
    for count in 0...text.count {
      let part = Array(text.prefix(count))
      _ = WiFiText(unsafe part.span.bytes)
    }
    for text in ["WIFI:", "WIFI:;;", "WIFI:T:WPA;P:x;;", "WIFI:T:none;S:x;;", "S:x;;", "WIFI:S"] {
      #expect(WiFiText(unsafe Array(text.utf8).span.bytes) == nil, "\(text)")
    }
  }
}
