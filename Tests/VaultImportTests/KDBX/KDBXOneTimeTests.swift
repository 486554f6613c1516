import Testing

@testable import VaultImport

@Suite("One-time secrets in a KeePass database") struct KDBXOneTimeTests {
  private func found(_ texts: [(String, String)], label: String = "a b") -> KDBXOneTime {
    KDBXOneTime(texts.map { KDBXText(key: $0.0, value: Array($0.1.utf8), isProtected: true) }, label: label)
  }

  @Test(
    "of KeeOtp and of KeePassXC become a URI",
    arguments: [
      ("otpauth://totp/x?secret=AA", "otpauth://totp/x?secret=AA"),
      ("key=gezd%20gnbv&step=60&size=8&otpHashMode=Sha512", "GEZDGNBV&algorithm=SHA512&digits=8&period=60"),
      ("key=GEZDGNBV&type=hotp&counter=3", "otpauth://hotp/a%20b?secret=GEZDGNBV&counter=3"),
      ("key=GEZDGNBV&type=Steam", "GEZDGNBV&digits=5&encoder=steam"), ("gezd gnbv", "GEZDGNBV"),
      ("key=GEZDGNBV&size=4", nil), ("key=GEZDGNBV&step=0", nil), ("key=1", nil), ("step=30", nil), ("&key=", nil),
      ("key=GEZDGNBV&otpHashMode=MD5", nil), ("key=GEZDGNBV&type=motp", nil), ("no secret!", nil),
    ] as [(String, String?)])
  func plugin(text: String, expected: String?) {
    let uri = found([("otp", text)]).found["otp"]
    let isWhole = expected?.hasPrefix("otpauth:") ?? true
    #expect(uri == (isWhole ? expected : expected.map { "otpauth://totp/a%20b?secret=\($0)" }))
  }

  @Test("of KeeTrayTOTP are joined with their settings") func tray() {
    func uri(_ settings: String) -> (String?, Set<String>) {
      let found = found([("TOTP Seed", "GEZDGNBV"), ("TOTP Settings", settings)])
      return (found.found["TOTP Seed"], found.joined)
    }
    let start = "otpauth://totp/a%20b?secret=GEZDGNBV"
    #expect(uri("30;6") == (start, ["TOTP Settings"]))
    #expect(uri("60;8") == (start + "&digits=8&period=60", ["TOTP Settings"]))
    #expect(uri("30;S") == (start + "&digits=5&encoder=steam", ["TOTP Settings"]))
    // The third setting would be lost, so the field stays.
    #expect(uri("30;6;https://time.example") == (start, []))
    #expect(uri("30;9") == (nil, []) && uri("x") == (nil, []))
    #expect(found([("TOTP Seed", "GEZDGNBV")]).found == ["TOTP Seed": start])
  }

  @Test(
    "of KeePass become a URI, whatever their encoding",
    arguments: [
      ("Secret", "12345678901234567890"), ("Secret-Hex", "3132333435363738393031323334353637383930"),
      ("Secret-Base32", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"), ("Secret-Base64", "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA="),
    ])
  func builtIn(end: String, text: String) {
    let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    let time = found([
      ("TimeOtp-\(end)", text), ("TimeOtp-Period", "60"), ("TimeOtp-Length", "8"),
      ("TimeOtp-Algorithm", "HMAC-SHA-256"),
    ])
    #expect(
      time.found["TimeOtp-\(end)"] == "otpauth://totp/a%20b?secret=\(secret)&algorithm=SHA256&digits=8&period=60")
    #expect(time.joined == ["TimeOtp-Period", "TimeOtp-Length", "TimeOtp-Algorithm"])
    let counter = found([("HmacOtp-\(end)", text), ("HmacOtp-Counter", "9")])
    #expect(counter.found["HmacOtp-\(end)"] == "otpauth://hotp/a%20b?secret=\(secret)&counter=9")
  }

  @Test("stay as they are if they are not clear") func unclear() {
    #expect(found([("TimeOtp-Secret", "a"), ("TimeOtp-Secret-Hex", "61")]).found.isEmpty)
    #expect(found([("TimeOtp-Secret-Hex", "6")]).found.isEmpty)
    #expect(found([("TimeOtp-Secret", "a"), ("TimeOtp-Length", "10")]).found.isEmpty)
    #expect(found([("HmacOtp-Secret", "a"), ("HmacOtp-Counter", "-1")]).found.isEmpty)
    #expect(found([("TimeOtp-Period", "30")]).joined.isEmpty)
  }

  @Test("do not become Steam's by the title of the entry") func steam() {
    #expect(
      found([("otp", "GEZDGNBV")], label: "Steam: me").found["otp"] == "otpauth://totp/Steam%20%20me?secret=GEZDGNBV")
  }
}
