import Testing
import VaultModel

@Suite("One-time-code secrets")
struct OneTimeSecretTests {
  @Test("a URI has so many parameters and no more") func parameters() {
    func uri(_ count: Int) -> String {
      "otpauth://totp/a?secret=MFRGGZDFMZTWQ2LK" + (1..<count).map { "&image\($0)=x" }.joined()
    }
    #expect(ItemKind.totp.accepts(uri(32)) && !ItemKind.totp.accepts(uri(33)))
  }

  @Test(
    "A base32 secret may be written in either case, in groups, with or without padding",
    arguments: [
      "JBSWY3DPEHPK3PXP", "jbsw y3dp ehpk 3pxp", "JBSW-Y3DP", " MY", "MY ", "MY-", "M--Y", "\u{FEFF}JBSWY3DP",
      "JBSW\u{A0}Y3DP", "JBSW\u{202F}Y3DP", "\u{2007}JBSW\u{2007}Y3DP\u{202F}", "JBSWY3DP\n", "\tJBSWY3DP\r\n\n",
      "MY======", "MZXQ====", "MZXW6===", "MZXW6YQ=", "MY",
      "MZXW6YTBOI======", "MZXW6YTBOI",
    ])
  func base32(secret: String) { #expect(ItemKind.totp.accepts(secret)) }

  @Test(
    "Other symbols, impossible lengths and wrong padding are refused",
    arguments: [
      "", "A", "AAA", "AAAAAA", "JBSWY3DPEHPK3PX1", "JBSWY3DPEHPK3PX8", "JBSWY3DPEHPK3PX0", "JBSW\nY3DP", " ", "\n",
      "\u{A0}", "JBSW\u{2009}Y3DP",
      "-", "MY=", "=MY", "MY=====A", "========", "JBSWY3DP========", "JBSWY3DPü", "MY\u{FEFF}", "MY%4", "MY\tMY",
    ])
  func notBase32(secret: String) { #expect(!ItemKind.totp.accepts(secret)) }

  @Test(
    "An otpauth URI for TOTP with a base32 secret is accepted",
    arguments: [
      "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP",
      "otpauth://totp/Example:ana@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Example",
      "otpauth://totp/x?issuer=Example%20Ltd&secret=MY%3D%3D%3D%3D%3D%3D",
      "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP&algorithm=SHA512&digits=8&period=60",
      "otpauth://totp/?secret=jbswy3dpehpk3pxp&", "OTPAUTH://TOTP/x?secret=MY", "\u{FEFF}otpauth://totp/x?secret=MY",
      " otpauth://totp/x?secret=MY  ", "otpauth://totp/x?secret=MY\r\n\r\n",
      "\u{A0}otpauth://totp/x?secret=MY&period=30\u{A0}", "otpauth://totp/x?secret=JBSW%E2%80%AFY3DP",
      "otpauth://totp/Café Köln:ana b?secret=MY&issuer=Café Köln",
      "otpauth://totp/x?secret=JBSW Y3DP", "otpauth://totp/x?secret=JBSW-Y3DP",
      "otpauth://totp/x?secret=JBSW%20Y3DP%2dMY",
      "otpauth://totp/x?secret=JBSW+Y3DP", "otpauth://totp/x?secret=JBSW%C2%A0Y3DP", "otpauth://totp/x?secret=%4A%62SW",
      "otpauth://totp/x?secret=MY&image=x&color=FF0000&type=totp&lock=true&icon=x&flag",
      "OTPAUTH://hotp/x?secret=MY&counter=0",
    ])
  func uri(uri: String) { #expect(ItemKind.totp.accepts(uri)) }

  @Test(
    "It says how the codes are made: six digits by SHA-1 every 30 seconds, unless it has other words for it",
    arguments: [
      ("JBSW Y3DP", .sha1, 6, .time(period: 30), false),
      ("otpauth://totp/x?secret=MY", .sha1, 6, .time(period: 30), true),
      (
        "otpauth://totp/x?secret=MY&algorithm=sha256&digits=7&period=9999&counter=5&image=x", .sha256, 7,
        .time(period: 9999), true
      ),
      (
        "otpauth://hotp/x?counter=9223372036854775807&algorithm=SHA512&digits=8&secret=MY&period=20", .sha512, 8,
        .counter(.max), true
      ),
      ("otpauth://hotp/a%20b?secret=MY&counter=0", .sha1, 6, .counter(0), true),
      ("OtpAuth://Totp/x?secret=MY&digits=8", .sha1, 8, .time(period: 30), true),
      ("otpauth://totp/Steam:ana?secret=MY&period=30", .sha1, 5, .time(period: 30), true),
    ] as [(String, OneTimeSecret.Algorithm, Int, OneTimeSecret.Factor, Bool)])
  func rules(
    value: String, algorithm: OneTimeSecret.Algorithm, digits: Int, factor: OneTimeSecret.Factor, isURI: Bool
  ) throws {
    let secret = try OneTimeSecret(unsafe Array(value.utf8).span.bytes)
    #expect(secret.algorithm == algorithm && secret.digits == digits)
    #expect(secret.factor == factor && secret.isURI == isURI)
  }

  @Test(
    "The key is what base32 stands for (RFC 4648, section 10), however it is written",
    arguments: [
      ("MY", "f"), ("MY======", "f"), ("mzxq", "fo"), ("MZXW6===", "foo"), ("MZXW6YQ=", "foob"), ("MZXW-6YTB", "fooba"),
      ("MZXW 6YTB OI", "foobar"), ("otpauth://totp/x?secret=MZXW6YTBOI%3D%3D%3D%3D%3D%3D&period=60", "foobar"),
      ("otpauth://hotp/x?counter=1&secret=mzxw6ytb", "fooba"), (" MZXW\u{A0}6YTB OI ", "foobar"),
      ("\u{202F}MZXW\u{202F}6YTB\u{2007}OI\n\n", "foobar"),
      ("\u{FEFF}otpauth://totp/ü b?secret=MZXW+6YTB-%4fI%20&issuer=x", "foobar"),
    ])
  func key(value: String, key: String) throws {
    let value = Array(value.utf8)
    let secret = try OneTimeSecret(unsafe value.span.bytes)
    var bytes: [UInt8] = []
    unsafe secret.writeKey(from: value.span.bytes) { bytes.append($0) }
    #expect(bytes == Array(key.utf8) && secret.keyCount == bytes.count)
  }

  @Test(
    "Another counter takes the place of the one in the URI, and nothing else changes",
    arguments: [
      ("otpauth://hotp/x?secret=MY&counter=9", 10, "otpauth://hotp/x?secret=MY&counter=10"),
      (
        "otpauth://hotp/counter=3?counter=100&secret=MY&issuer=a", 7,
        "otpauth://hotp/counter=3?counter=7&secret=MY&issuer=a"
      ),
    ] as [(String, Int64, String)])
  func counter(value: String, next: Int64, expected: String) throws {
    let value = Array(value.utf8)
    var bytes: [UInt8] = []
    try OneTimeSecret(unsafe value.span.bytes).write(unsafe value.span.bytes, counter: next) { bytes.append($0) }
    #expect(String(decoding: bytes, as: UTF8.self) == expected)
  }

  @Test(
    "An otpauth URI says what is wrong with it",
    arguments: [
      ("otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP", "no 'counter'"), ("otpauth://hotp/x?counter=1", "no 'secret'"),
      ("otpauth://hotp/x?secret=MY&counter=", "counter"), ("otpauth://hotp/x?secret=MY&counter=-1", "counter"),
      ("otpauth://hotp/x?secret=MY&counter=01", "counter"), ("otpauth://totp/x?secret=MY&counter=x", "counter"),
      ("otpauth://hotp/x?secret=MY&counter=9223372036854775808", "counter"),
      ("otpauth://hotp/x?secret=MY&counter=1&counter=1", "twice"),
      ("otpauth://steam/x?secret=JBSWY3DPEHPK3PXP", "otpauth://totp/"),
      ("otpauth://totp/x", "no 'secret'"), ("otpauth://totp/x?", "no 'secret'"),
      ("otpauth://totp/x?issuer=a", "no 'secret'"), ("otpauth://totp/secret=JBSWY3DP", "no 'secret'"),
      ("otpauth://totp/x?secret=", "not base32"), ("otpauth://totp/x?secret=JBSW_Y3DP", "not base32"),
      ("otpauth://totp/x?secret=%20", "not base32"), ("otpauth://totp/x?secret=1", "not base32"),
      ("otpauth://totp/x\u{85}?secret=MY", "control characters"),
      ("otpauth://totp/x?secret=MY&encoder=base64", "'steam'"),
      ("otpauth://hotp/x?secret=MY&counter=1&encoder=steam", "based on time"),
      ("otpauth://totp/x?secret=MY&issuer=Steam&digits=4", "digits"),
      ("otpauth://totp/Steam:ana?secret=MY&period=60", "a period of 30"),
      ("otpauth://totp/x?secret=MY&algorithm=SHA256&issuer=Steam", "algorithm SHA1"),
      ("otpauth://totp/x?secret=MY&algorithm=SHA512&encoder=steam", "algorithm SHA1"),
      ("otpauth://totp/x?secret=MY&secret=MY", "twice"), ("otpauth://totp/x?digits=6&secret=MY&digits=8", "twice"),
      ("otpauth://totp/x?secret=MY&period=30&period=60", "twice"),
      ("otpauth://totp/x?secret=MY&algorithm=SHA1&algorithm=SHA256", "twice"),
      ("otpauth://totp/x\n?secret=MY", "line breaks"),
      ("otpauth://totp/x?secret=MY&algorithm=MD5", "SHA1"), ("otpauth://totp/x?secret=MY&algorithm=SHA1024", "SHA1"),
      ("otpauth://totp/x?secret=MY&digits=5", "6, 7 or 8 digits"),
      ("otpauth://totp/Steam?secret=MY&digits=5", "encoder=steam"),
      ("otpauth://totp/my%20steam?secret=MY&digits=5", "encoder=steam"),
      ("otpauth://hotp/Steam?secret=MY&digits=5&counter=0", "6, 7 or 8 digits"),
      ("otpauth://totp/x?secret=MY&digits=66", "digits"),
      ("otpauth://totp/x?secret=MY&period=0", "period"), ("otpauth://totp/x?secret=MY&period=", "period"),
      ("otpauth://totp/x?secret=MY&period=3x", "period"), ("otpauth://totp/x?secret=MY&period=12345", "period"),
    ])
  func badURI(uri: String, reason: String) {
    let error = #expect(throws: ValueError.self) { try ItemKind.totp.check(uri) }
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }

  @Test(
    "Other programs' forms are refused with what to give instead, and without the secret",
    arguments: [
      ("steam://JBSWY3DPEHPK3PXP", "--attr issuer=Steam"), ("STEAM://JBSWY3DPEHPK3PXP", "&issuer=Steam"),
      ("otpauth-migration://offline?data=CjEKCkhello", "each account's otpauth:// URI"),
      ("cnOgv/KdpLoP6Nbh0GMkXkPXALQ=", "`base64 -d | base32`"),
    ])
  func otherForms(value: String, advice: String) {
    let error = #expect(throws: ValueError.self) { try ItemKind.totp.check(value) }
    let reason = error?.reason ?? ""
    #expect(reason.contains(advice) && !reason.contains("JBSW") && !reason.contains("CjEK"), "\(reason)")
  }

  @Test(
    "A name that is nearly one which changes the codes is refused by both names",
    arguments: [
      ("digit=8", "'digit', which looks like 'digits'"), ("digits =8", "'digits '"), ("digits%20=8", "'digits '"),
      ("Digits=8", "'Digits', which looks like 'digits'"), ("DIGITS=8", "'DIGITS'"), ("digist=8", "'digist'"),
      ("period=30&Period=60", "'Period'"), ("perod=60", "'perod', which looks like 'period'"), ("peri=60", "'peri'"),
      ("algorithms=SHA256", "looks like 'algorithm'"), ("algo=SHA256", "'algo', which looks like 'algorithm'"),
      ("Algorithm=SHA1", "'Algorithm'"), ("secrets=MY", "looks like 'secret'"), ("SECRET=MY", "looks like 'secret'"),
      ("Counter=1", "looks like 'counter'"), ("conter=1", "looks like 'counter'"), ("Encoder=steam", "'encoder'"),
      ("amp;digits=8", "'&amp;'"), ("AMP;issuer=x", "'&amp;'"), ("#38;digits=8", "'&#38;'"),
      ("#x26;digits=8", "'&#x26;'"),
      ("digits", "'digits' without '='"), ("digits:8", "'digits' without '='"), ("Period%3D60", "'period' without '='"),
    ])
  func slips(parameter: String, reason: String) {
    for uri in ["otpauth://totp/x?secret=MY&\(parameter)", "otpauth://totp/x?\(parameter)&secret=MY"] {
      let error = #expect(throws: ValueError.self) { try ItemKind.totp.check(uri) }
      #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }
  }

  @Test(
    "Other names are passed over, however they are spelled, and so is what has none",
    arguments: [
      "digitized=1", "amount=5", "tier=1", "algebra=x", "image=a=b", "=x", "", "issuer", "periodic", "Issuer=x",
      "%ff=%",
    ])
  func otherNames(parameter: String) throws {
    let secret = try OneTimeSecret(unsafe Array("otpauth://totp/x?secret=MY&\(parameter)&digits=7".utf8).span.bytes)
    #expect(secret.digits == 7)
  }

  @Test(
    "So is one that is nearly the issuer, if without it the codes would not be Steam's",
    arguments: [
      ("isuer=Steam", true), ("issuers=steam", true), ("ISUER=%53team", true), ("issu=STEAM", true),
      ("isuer=Valve", false), ("issuer=Steam", false), ("Issuer=Steam", false), ("isuer=Steam&encoder=steam", false),
      ("isuer=Steam&issuer=Valve", false), ("is=Steam", false),
    ])
  func issuerSlips(parameter: String, isRefused: Bool) {
    let uri = "otpauth://totp/Me?secret=MY&\(parameter)"
    guard isRefused else { return #expect(ItemKind.totp.accepts(uri)) }
    let name = parameter.prefix { $0 != "=" }
    let error = #expect(throws: ValueError.self) { try ItemKind.totp.check(uri) }
    #expect(error?.reason == "the otpauth URI has '\(name)', which looks like 'issuer'; write that")
    // A value that was stored before this check existed still gives codes.
    #expect(throws: Never.self) { try OneTimeSecret(unsafe Array(uri.utf8).span.bytes) }
    for other in ["totp/Steam:me?secret=MY", "hotp/Me?counter=0&secret=MY"] {
      #expect(ItemKind.totp.accepts("otpauth://\(other)&\(parameter)"), "\(other)")
    }
  }

  @Test("So is such an attribute, for base32 alone") func issuerAttributes() {
    for key in ["isuer", "Issuer", "issuers"] {
      let error = #expect(throws: ValueError.self) { try ItemKind.totp.check("JBSWY3DP", [key: "Steam"]) }
      #expect(error?.reason == "the item has the attribute '\(key)', which looks like 'issuer'; write that")
      #expect(ItemKind.totp.accepts("JBSWY3DP", [key: "Valve"]))
      #expect(ItemKind.totp.accepts("JBSWY3DP", [key: "Steam", "issuer": "Steam"]))
      #expect(ItemKind.totp.accepts("otpauth://totp/x?secret=MY&issuer=Valve", [key: "Steam"]))
    }
  }

  @Test("A refusal names no part of a secret that stands where a name belongs")
  func secretAsName() {
    for uri in ["otpauth://totp/x?JBSWY3DPEHPK3PXP", "otpauth://totp/x?JBSWY3DPEHPK3PXP=&digit=8"] {
      let error = #expect(throws: ValueError.self) { try ItemKind.totp.check(uri) }
      #expect(error?.reason.contains("JBSW") == false)
    }
  }

  @Test(
    "Steam's codes are told by its name as the issuer, or by the encoder, and by time alone",
    arguments: [
      ("otpauth://totp/x?secret=MY&issuer=Steam", true), ("otpauth://totp/x?secret=MY&issuer=steam&digits=6", true),
      ("otpauth://totp/test:t?secret=MY&issuer=Valve&algorithm=SHA1&digits=5&period=30&encoder=steam", true),
      ("otpauth://totp/x?encoder=Steam&secret=MY", true), ("otpauth://totp/Steam%3Aana?secret=MY", true),
      ("otpauth://totp/Steam?secret=MY", false), ("otpauth://totp/Steam:x?secret=MY&issuer=Other", false),
      ("otpauth://totp/x?secret=MY&issuer=Steamed", false),
      ("otpauth://hotp/x?secret=MY&counter=1&issuer=Steam", false),
    ])
  func steam(uri: String, isSteam: Bool) throws {
    let secret = try OneTimeSecret(unsafe Array(uri.utf8).span.bytes)
    #expect(secret.alphabet == (isSteam ? .steam : .digits) && secret.digits == (isSteam ? 5 : 6))
  }

  @Test("Of base32 alone the attribute says so") func steamAttribute() throws {
    let value = Array("JBSWY3DP".utf8)
    #expect(try OneTimeSecret(unsafe value.span.bytes, issuer: "Steam").alphabet == .steam)
    #expect(try OneTimeSecret(unsafe value.span.bytes, issuer: "Example").alphabet == .digits)
  }

  @Test(
    "It names the service and the account that its label or its issuer does",
    arguments: [
      ("otpauth://totp/Example%20Ltd:%20ana@example.com?secret=MY", "Example Ltd", "ana@example.com"),
      ("otpauth://totp/Old:ana?secret=MY&issuer=New+%26", "New+&", "ana"), ("otpauth://totp/ana?secret=MY", nil, "ana"),
      ("otpauth://totp/?secret=MY&issuer=%20", nil, nil), ("otpauth://totp/Käse:?secret=MY", "Käse", nil),
    ] as [(String, String?, String?)])
  func names(uri: String, issuer: String?, account: String?) throws {
    let value = Array(uri.utf8)
    let names = try OneTimeSecret(unsafe value.span.bytes).names(in: unsafe value.span.bytes)
    #expect(names.issuer == issuer && names.account == account, "\(names)")
  }

  @Test(
    "For a phone a URI is as the standard has it, and one that is stays as it is",
    arguments: [
      (
        "\u{FEFF}OTPAUTH://Totp/Café b:x?secret=jbsw y3dp&issuer=Café b ",
        "otpauth://totp/Caf%C3%A9%20b:x?secret=JBSWY3DP&issuer=Caf%C3%A9%20b"
      ),
      ("otpauth://totp/x?a=b&secret=MY%3D%3D%3D%3D%3D%3D&c", "otpauth://totp/x?a=b&secret=MY%3D%3D%3D%3D%3D%3D&c"),
      ("otpauth://totp/A%20b?secret=my", "otpauth://totp/A%20b?secret=my"),
      ("otpauth://totp/x?secret=JBSW%20Y3DP", "otpauth://totp/x?secret=JBSWY3DP"),
      ("jbsw y3dp", "otpauth://totp/web?secret=JBSWY3DP"),
    ])
  func forPhones(value: String, expected: String) throws {
    var uri: [UInt8] = []
    try OneTimeURI.write(name: "web", attributes: [:], value: unsafe Array(value.utf8).span.bytes) { uri.append($0) }
    #expect(String(decoding: uri, as: UTF8.self) == expected)
  }
}
