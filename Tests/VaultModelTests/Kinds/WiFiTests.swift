import Testing
import VaultModel

@Suite("Wi-Fi networks")
struct WiFiTests {
  private static func accepts(_ passphrase: String, _ attributes: [String: String] = [:]) -> Bool {
    ItemKind.wifi.accepts(passphrase, ["ssid": "home"].merging(attributes) { $1 })
  }

  @Test("The network's name has 1 to 32 bytes and must be there")
  func ssid() {
    #expect(!ItemKind.wifi.accepts("password"))
    #expect(!ItemKind.wifi.accepts("password", ["ssid": ""]))
    #expect(ItemKind.wifi.accepts("password", ["ssid": "x"]))
    #expect(ItemKind.wifi.accepts("password", ["ssid": String(repeating: "ü", count: 16)]))
    #expect(!ItemKind.wifi.accepts("password", ["ssid": String(repeating: "ü", count: 16) + "x"]))
  }

  @Test("A WPA passphrase has 8 to 63 printable ASCII characters, or 64 hexadecimal digits")
  func wpa() {
    let hexadecimal = String(repeating: "0aF9", count: 16)
    for good in ["12345678", "with space~", String(repeating: "x", count: 63), hexadecimal] {
      #expect(Self.accepts(good) && Self.accepts(good, ["security": "WPA"]))
    }
    for bad in ["", "1234567", String(repeating: "x", count: 64), "passwörd", "password\n", hexadecimal + "0"] {
      #expect(!Self.accepts(bad))
    }
  }

  @Test("A WPA3 password has 1 to 128 bytes of text", arguments: ["WPA3", "SAE"])
  func wpa3(security: String) {
    for good in ["x", "passwörd", String(repeating: "x", count: 128)] {
      #expect(Self.accepts(good, ["security": security]))
    }
    for bad in ["", "pass\n", String(repeating: "x", count: 129)] {
      #expect(!Self.accepts(bad, ["security": security]))
    }
    #expect(throws: ValueError.self) { try ItemKind.wifi.check([0xFF], ["ssid": "home", "security": security]) }
  }

  @Test("A WEP key has one of three lengths, as text or in hexadecimal")
  func wep() {
    for good in ["abcde", "0123456789", String(repeating: "a", count: 13), String(repeating: "a", count: 26)] {
      #expect(Self.accepts(good, ["security": "WEP"]))
    }
    for bad in ["", "abcd", "012345678x", String(repeating: "a", count: 27)] {
      #expect(!Self.accepts(bad, ["security": "WEP"]))
    }
  }

  @Test("An open network has no passphrase")
  func open() {
    #expect(Self.accepts("", ["security": "nopass"]))
    #expect(!Self.accepts("password", ["security": "nopass"]))
  }

  @Test("Unknown securities, addresses and yes-or-no answers are refused")
  func otherAttributes() {
    for good in [["bssid": "00:11:22:aa:BB:cc"], ["bssid": "00-11-22-aa-bb-cc"], ["hidden": "true"]] {
      #expect(Self.accepts("password", good))
    }
    for bad in [
      ["security": "wpa"], ["security": ""], ["security": "WPA2-EAP"], ["bssid": "00:11:22:aa:bb"],
      ["bssid": "00:11:22:aa:bb:cg"], ["bssid": "00:11-22:aa:bb:cc"], ["bssid": "00-11:22-aa-bb-cc"],
      ["bssid": "00.11.22.aa.bb.cc"],
      ["bssid": "00:11:22:aa:bb:cc:"], ["bssid": ""], ["hidden": "yes"],
    ] {
      #expect(!Self.accepts("password", bad))
    }
  }
}

@Suite("WIFI: URIs")
struct WiFiURITests {
  private static func uri(_ attributes: [String: String], _ passphrase: String) throws -> String {
    var bytes: [UInt8] = []
    let value = Array(passphrase.utf8)
    let span = unsafe value.span.bytes
    try WiFiURI.write(attributes: attributes, passphrase: span) { bytes.append($0) }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("The URI says type, name and passphrase")
  func plain() throws {
    #expect(try Self.uri(["ssid": "home"], "password") == "WIFI:T:WPA;S:home;P:password;;")
    let wep = ["ssid": "home", "security": "WEP"]
    #expect(try Self.uri(wep, "abcde") == "WIFI:T:WEP;S:home;P:abcde;;")
  }

  @Test("WPA3 goes by the name SAE")
  func wpa3() throws {
    #expect(try Self.uri(["ssid": "home", "security": "WPA3"], "x") == "WIFI:T:SAE;S:home;P:x;;")
    #expect(try Self.uri(["ssid": "home", "security": "SAE"], "x") == "WIFI:T:SAE;S:home;P:x;;")
  }

  @Test("Backslash, semicolon, comma, colon and quote are escaped in the name and the passphrase")
  func escapes() throws {
    let uri = try Self.uri(["ssid": #"a;b,c:d"e\f"#], #"\;,:"pass"#)
    #expect(uri == #"WIFI:T:WPA;S:a\;b\,c\:d\"e\\f;P:\\\;\,\:\"pass;;"#)
  }

  @Test("An open network has no passphrase in it, a hidden one says so")
  func openAndHidden() throws {
    let open = ["ssid": "café", "security": "nopass", "hidden": "true"]
    #expect(try Self.uri(open, "") == "WIFI:T:nopass;S:café;H:true;;")
    #expect(try Self.uri(["ssid": "home", "hidden": "false"], "password") == "WIFI:T:WPA;S:home;P:password;;")
  }

  @Test("What is no Wi-Fi network is refused before anything is written")
  func refused() {
    var written = 0
    let value = Array("short".utf8)
    let span = unsafe value.span.bytes
    #expect(throws: ValueError.self) {
      try WiFiURI.write(attributes: ["ssid": "home"], passphrase: span) { _ in written += 1 }
    }
    #expect(throws: ValueError.self) {
      try WiFiURI.write(attributes: [:], passphrase: span) { _ in written += 1 }
    }
    #expect(written == 0)
  }
}
