internal import VaultWire

/// One network of a `wpa_supplicant.conf`, or one credential for Passpoint.
struct WPANetwork {
  /// The names whose values are secrets, in the order in which one becomes the item's own value.
  private static let secrets = [
    "psk", "sae_password", "wep_key0", "wep_key1", "wep_key2", "wep_key3", "password", "pin", "private_key_passwd",
    "private_key2_passwd", "machine_password", "machine_private_key_passwd", "mka_cak", "dpp_netaccesskey", "milenage",
    "wps_nfc_dev_pw", "wps_nfc_dh_privkey", "#psk",
  ]

  static func isSecret(_ name: String) -> Bool { secrets.contains(name) }

  private(set) var entry: Entry

  init(_ block: WPAConfiguration.Block) {
    let ssid = block.pairs.last { $0.name == "ssid" }?.string
    let name = ssid ?? Self.text(of: ["realm", "domain", "id_str"], in: block)
    entry = Entry(.login, folder: ["wifi"], title: name.map { String(decoding: $0, as: UTF8.self) } ?? "")
    let main = Self.main(of: block)
    let isWireless = main.map { block.pairs[$0].name }.map {
      $0 == "psk" || $0 == "sae_password" || $0.hasPrefix("wep")
    }
    if isWireless == true { entry.kind = .wifi }
    let names = Set(block.pairs.map(\.name))
    if entry.kind == .wifi, !names.contains("key_mgmt"), names.isDisjoint(with: ["psk"]) {
      entry.add("security", .text, names.contains("sae_password") ? "SAE" : "WEP")
    }
    for (index, pair) in block.pairs.enumerated() { add(pair, names, isMain: index == main) }
    if main == nil, ssid != nil, Self.isOpen(block) { entry.kind = .wifi } else { entry.withoutTextsAlone() }
  }

  private static func text(of names: [String], in block: WPAConfiguration.Block) -> [UInt8]? {
    names.lazy.compactMap { name in block.pairs.last { $0.name == name }?.string }.first
  }

  private static func main(of block: WPAConfiguration.Block) -> Int? {
    for name in secrets where name != "#psk" {
      let found = block.pairs.lastIndex { $0.name == name && !$0.isElsewhere }
      if let found { return found }
    }
    return nil
  }

  /// True for a network that says that it needs no key.
  private static func isOpen(_ block: WPAConfiguration.Block) -> Bool {
    guard let management = block.pairs.last(where: { $0.name == "key_mgmt" })?.text else { return false }
    let words = management.split(separator: " ")
    return !words.isEmpty && words.allSatisfy { $0 == "NONE" || $0 == "OWE" }
      && !block.pairs.contains { isSecret($0.name) }
  }

  private mutating func add(_ pair: WPAConfiguration.Pair, _ names: Set<String>, isMain: Bool) {
    if Self.isSecret(pair.name) { return add(secret: pair, isMain: isMain) }
    switch pair.name {
    // The title has it. One in hexadecimal digits that is no UTF-8 stays beside it.
    case "ssid":
      if let ssid = pair.string, String(validating: ssid, as: UTF8.self) == nil {
        entry.put("ssid-hex", .text, pair.raw)
      }
    case "identity", "username": entry.put(pair.name, .username, pair.string ?? Array(pair.raw))
    case "bssid": entry.put(pair.name, .text, pair.raw)
    case "key_mgmt": entry.add("security", .text, Self.security(pair.text, names))
    case "scan_ssid": entry.add("hidden", pair.text == "1" ? .text : .setting, pair.text == "1" ? "true" : pair.text)
    case "private_key", "private_key2":
      entry.refuse(pair.name, .setting, size: pair.raw.count, "it names a file; import that by itself")
    default: entry.fields.append(Field(pair.name, .setting, Array(pair.raw)))
    }
  }

  private mutating func add(secret pair: WPAConfiguration.Pair, isMain: Bool) {
    let role: ImportedField.Role = isMain ? .password : .secret
    guard !pair.isElsewhere else {
      return entry.refuse(pair.name, role, size: 0, "another program keeps it, and not this file")
    }
    // A key of 64 hexadecimal digits stays as it is, and so does a hash of a password.
    let isRaw = pair.name == "psk" || pair.name.hasPrefix("wep_key") || pair.raw.starts(with: "hash:".utf8)
    let value = pair.isQuoted || !isRaw ? pair.string ?? Array(pair.raw) : Array(pair.raw)
    if value.isEmpty { entry.add(pair.name, role, "") } else { entry.put(pair.name, role, value) }
  }

  /// The security of a network in the words of an item of kind `wifi`. wpa_supplicant takes several, and the rule for
  /// the passphrase of the oldest holds for all.
  private static func security(_ management: String, _ names: Set<String>) -> String {
    let words = Set(management.split(separator: " ").map(String.init))
    if words.contains(where: { $0.hasSuffix("PSK") || $0.hasSuffix("PSK-SHA256") }) { return "WPA" }
    if words.contains(where: { $0.hasSuffix("SAE") || $0.hasSuffix("SAE-EXT-KEY") }) { return "SAE" }
    if words.contains("NONE") || words == ["OWE"] {
      return names.contains { $0.hasPrefix("wep_key") } ? "WEP" : "nopass"
    }
    return management
  }
}
