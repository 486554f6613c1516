import Testing
import VaultWire

@testable import VaultImport

@Suite("Connections of NetworkManager") struct NetworkManagerTests {
  @Test("are Wi-Fi networks with their names, users with their passwords, and VPNs; agents' secrets are listed")
  func connections() throws {
    let files = try ["agent", "eduroam", "home", "office"].map { try realFile("networkmanager-\($0).nmconnection") }
    let read = try ReadEntries(NetworkManagerReader.self, files + [Source.File("readme", Array("[connection]".utf8))])
    #expect(read.format?.detail == "4 connections of NetworkManager")
    #expect(
      read.told.filter { !$0.contains("[setting]") } == [
        "login wifi/agent",
        "  wifi-security.psk [secret] an agent of the user keeps it, such as a keyring, and not this file",
        "login wifi/eduroam", "  ssid [text] eduroam", "  security [text] wpa-eap", "  identity [username] ana@uni",
        "  password [password] p;w \\ ", "  802-1x.private-key-password [secret] xx", "wifi wifi/Home 5G",
        "  bssid [text] 00:11:22:33:44:55", "  hidden [text] true", "  ssid [text] Höme;net", "  security [text] WPA",
        "  psk [password] correct horse\\ battery", "login vpn/office",
        "  vpn.cert-pass [secret] an agent of the user keeps it, such as a keyring, and not this file",
        "  username [username] ana", "  password [password] v p n", "login other files",
        "  readme [attachment] it is no connection of NetworkManager",
      ])
    #expect(read.entries.prefix(4).allSatisfy { $0.id.utf8.count == 36 })
  }

  @Test("have keys of WireGuard, WEP and modems, and private keys in the file itself") func others() throws {
    func told(_ text: String) throws -> [String] {
      try ReadEntries(NetworkManagerReader.self, "[connection]\nid=x\ntype=" + text).told
    }
    #expect(
      try told("wireguard\n[wireguard]\nprivate-key=K=\n[wireguard-peer.P/=]\npreshared-key=S=\n").filter {
        !$0.contains("[setting]")
      } == [
        "login wireguard/x", "  private-key [password] K=", "  wireguard-peer.P/=.preshared-key [secret] S=",
      ])
    #expect(
      try told("802-11-wireless\n[802-11-wireless-security]\nkey-mgmt=none\nwep-key0=abcde\n").contains(
        "  security [text] WEP"))
    #expect(try told("gsm\n[gsm]\npin=1234\npassword-flags=2\n").contains("  pin [password] 1234"))
    #expect(
      try told("ethernet\n[802-1x]\nprivate-key=data:;base64,S0VZ\npassword-raw=1;65;\n").suffix(2) == [
        "  802-1x.private-key [secret] KEY", "  password-raw [password] \u{1}A",
      ])
    #expect(
      try told("wifi\n[802-1x]\nprivate-key=file:///k\n").last
        == "  802-1x.private-key [setting] it names a file; import that by itself")
  }

  @Test("that give a key twice have the last value, as NetworkManager reads them") func twice() throws {
    let network = "[connection]\nid=x\ntype=wifi\n[wifi]\nssid=x\n[wifi-security]\nkey-mgmt=wpa-psk\n"
    let told = try ReadEntries(NetworkManagerReader.self, network + "psk=first words\npsk=second words\n").told
    #expect(told.contains("  psk [password] second words") && !told.contains("  psk [password] first words"))
  }

  @Test("of a wireless network that needs no key are an open one; others without a secret make no item")
  func open() throws {
    func told(_ rest: String, type: String = "wifi") throws -> [String] {
      let text = "[connection]\nid=Cafe\ntype=\(type)\n[wifi]\nssid=Cafe\n\(rest)"
      return try ReadEntries(NetworkManagerReader.self, text).told.filter { !$0.contains("connection.type") }
    }
    let open = ["wifi wifi/Cafe", "  ssid [text] Cafe", "  security [text] nopass"]
    #expect(try told("") == open)
    for management in ["none", "owe"] {
      #expect(try told("[wifi-security]\nkey-mgmt=\(management)\n") == open, "\(management)")
    }
    #expect(
      try told("[wifi-security]\nkey-mgmt=wpa-psk\n") == [
        "login wifi/Cafe", "  ssid [setting] Cafe", "  security [setting] WPA",
      ])
    #expect(try told("[802-1x]\neap=tls;\n").first == "login wifi/Cafe")
    #expect(try told("[wifi-security]\nkey-mgmt=none\nwep-key-type=1\n").first == "login wifi/Cafe")
    #expect(try told("", type: "ethernet") == ["login network/Cafe", "  ssid [setting] Cafe"])
  }

  @Test(
    "are told from other files", arguments: ["", "[connection]\n", "[connection]\nid=x\n", "a=b", "[connection]\ntype"])
  func refused(_ text: String) {
    #expect(!recognizes(NetworkManagerReader.self, text) && refusal(NetworkManagerReader.self, text) != nil)
  }

  @Test("any cut or flipped bit is read or refused") func damage() throws {
    attack(NetworkManagerReader.self, "[connection]\ntype=wifi\n[wifi]\nssid=72;1;\n[wifi-security]\npsk=a\\s\\;\\\\\n")
  }
}
