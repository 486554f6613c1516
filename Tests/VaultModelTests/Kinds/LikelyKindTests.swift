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
      ("steam://JBSWY3DPEHPK3PXP", .totp), ("Steam://X", .totp), ("otpauth-migration://offline?data=CjE", .totp),
      ("steam:/", nil), ("my steam://x", nil),
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
      let read = try #require(try WiFiText(unsafe text.span.bytes))
      var back: [UInt8] = []
      unsafe read.writePassphrase(from: text.span.bytes) { back.append($0) }
      // The attributes include the security WPA, too.
      let expected = ["security": "WPA"].merging(attributes) { $1 }
      #expect(read.attributes == expected && String(decoding: back, as: UTF8.self) == passphrase)
    }
  }

  @Test("every beginning of such a text is looked at without a fault, and one without a network is none")
  func beginnings() throws {
    let text = Array(#"WIFI:T:WPA;S:a\;b;P:pa\\ss;H:true;;"#.utf8)
    for count in 0...text.count {
      let part = Array(text.prefix(count))
      do throws(ValueError) { _ = try WiFiText(unsafe part.span.bytes) } catch { continue }
    }
    #expect(try WiFiText(unsafe Array("S:x;;".utf8).span.bytes) == nil)
  }

  @Test(
    "the security of the network is told in every spelling, also that it has none",
    arguments: [
      ("T:WPA;S:n;P:long enough;;", "WPA"), ("T:WPA2;S:n;P:long enough;;", "WPA"), ("S:n;P:long enough;;", "WPA"),
      ("T:WPA/WPA2;S:n;P:long enough;;", "WPA"), ("T:wpa2/wpa3;S:n;P:long enough;;", "WPA"),
      ("T:;S:n;P:long enough;;", "WPA"), ("T:WPA3;S:n;P:x;;", "SAE"), ("T:WEP;S:n;P:abcde;;", "WEP"),
      ("S:n;;", "nopass"), ("T:nopass;S:n;;", "nopass"), ("S:n;T:;P:;;", "nopass"),
    ])
  func security(text: String, expected: String) throws {
    let read = try #require(try WiFiText(unsafe Array("WIFI:\(text)".utf8).span.bytes))
    #expect(read.attributes == ["ssid": "n", "security": expected])
  }

  @Test(
    "a text of a network that cannot be stored is refused with the reason",
    arguments: [
      ("WIFI:", "names no network"), ("WIFI:;;", "names no network"), ("WIFI:T:WPA;P:x;;", "names no network"),
      ("WIFI:S", "names no network"), ("wifi:", "names no network"), ("WIFI:S:;;", "names no network"),
      ("WIFI:T:none;S:x;;", "not one of WPA"), ("WIFI:T:WPA2-EAP;S:x;E:PEAP;I:ana;P:x;;", "accounts (EAP)"),
    ])
  func refused(text: String, reason: String) {
    let error = #expect(throws: ValueError.self) { try WiFiText(unsafe Array(text.utf8).span.bytes) }
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }
}
