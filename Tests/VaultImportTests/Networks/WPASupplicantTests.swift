import Testing
import VaultWire

@testable import VaultImport

@Suite("Files of wpa_supplicant") struct WPASupplicantTests {
  private func told(_ text: String) throws -> [String] { try ReadEntries(WPASupplicantReader.self, text).told }

  @Test("are networks with passphrases or keys, and the passphrase in the comment of wpa_passphrase")
  func networks() throws {
    let file = try realFile("wpa-passphrase.conf")
    let read = try ReadEntries(WPASupplicantReader.self, [file])
    #expect(
      read.told == [
        "wifi wifi/My \"net", "  #psk [secret] secret#phrase",
        "  psk [password] 906035eb7b7b58fe667f988b593f0d256e7939540c7bf8faf8566d5fafceee23", "wifi wifi/Cellar # 2",
        "  psk [password] pass # phrase", "  security [text] WPA", "  hidden [text] true",
        "login wifi/settings of wpa-passphrase.conf", "  ctrl_interface [setting] /run/wpa_supplicant",
        "  update_config [setting] 1",
      ])
  }

  @Test("have names in escapes and digits, WEP, SAE, EAP, credentials and blobs") func others() throws {
    #expect(try told("network={\nssid=P\"caf\\xc3\\xa9\\t\"\npsk=\"12345678\"\n}")[0] == "wifi wifi/café\t")
    for management in ["NONE", "OWE"] {
      #expect(
        try told("network={\nssid=436166\nkey_mgmt=\(management)\n}") == ["wifi wifi/Caf", "  security [text] nopass"])
    }
    #expect(
      try told("network={\nssid=\"o\"\nkey_mgmt=NONE WPA-PSK\n}") == ["login wifi/o", "  security [setting] WPA"])
    #expect(try told("network={\nssid=\"o\"\n}") == ["login wifi/o"])
    #expect(
      try told("network={\nssid=\"w\"\nkey_mgmt=NONE\nwep_key0=0123456789\n}") == [
        "wifi wifi/w", "  security [text] WEP", "  wep_key0 [password] 0123456789",
      ])
    #expect(
      try told("network={\nssid=\"s\"\nsae_password=\"any\"\npsk=ext:name\n}").contains(
        "  psk [secret] another program keeps it, and not this file"))
    #expect(
      try told("network={\nssid=\"e\"\nkey_mgmt=WPA-EAP\nidentity=\"u\"\npassword=hash:8846\nprivate_key=\"/k\"\n}")
        == [
          "login wifi/e", "  security [text] WPA-EAP", "  identity [username] u", "  password [password] hash:8846",
          "  private_key [setting] it names a file; import that by itself",
        ])
    #expect(
      try told("cred={\nrealm=\"r\"\npassword=\"p\"\n}\nblob-base64-k={\nS0\nVZ\n}") == [
        "login wifi/r", "  realm [setting] \"r\"", "  password [password] p", "login wifi/settings of a",
        "  blob-base64-k [secret] KEY",
      ])
  }

  @Test("are told from other files", arguments: ["", "network", "network={\nssid=\"a\"", "network={\nx\n}", "a=b"])
  func refused(_ text: String) {
    #expect(!recognizes(WPASupplicantReader.self, text))
    #expect(text == "a=b" || text.isEmpty || refusal(WPASupplicantReader.self, text) != nil)
  }

  @Test("of more lines or bytes than settings have are an error") func large() {
    let lines = String(repeating: "a=b\n", count: (1 << 16) + 1)
    #expect(refusal(WPASupplicantReader.self, lines) == "there are more than 65536 lines")
    let text = String(repeating: "#", count: (4 << 20) + 1)
    #expect(refusal(WPASupplicantReader.self, text) == "a file of settings has more than 4 MiB")
    #expect(refusal(NetworkManagerReader.self, text) == "a file of settings has more than 4 MiB")
  }

  @Test("any cut or flipped bit is read or refused") func damage() {
    attack(
      WPASupplicantReader.self,
      "a=b\nnetwork={\n#psk=\"x\"\nssid=P\"\\x4\\12\"\npsk=\"y # z\"  # c\n}\nblob-base64-k={\nS0VZ\n}\ncred={\n}\n")
  }
}
