internal import VaultBytes
internal import VaultWire

/// One connection of NetworkManager: a wireless network, a tunnel of WireGuard, a VPN, or another kind of network.
struct NetworkConnection {
  /// The groups and keys whose values are secrets (nm-settings-nmcli(5)), in the order in which one becomes the
  /// item's own value. All keys of `vpn-secrets` and the keys of WireGuard's peers are secrets, too.
  private static let secrets: [(group: String, keys: [String])] = [
    ("wifi-security", ["psk", "wep-key0", "wep-key1", "wep-key2", "wep-key3", "leap-password"]),
    (
      "802-1x",
      [
        "password", "password-raw", "private-key-password", "phase2-private-key-password", "pin",
        "ca-cert-password", "client-cert-password", "phase2-ca-cert-password", "phase2-client-cert-password",
      ]
    ),
    ("wireguard", ["private-key"]),
    ("vpn-secrets", ["password"]),
    ("gsm", ["password", "pin"]), ("cdma", ["password"]), ("pppoe", ["password"]), ("adsl", ["password"]),
    ("macsec", ["mka-cak"]),
  ]
  private static let users: Set = [
    "802-1x.identity", "vpn.username", "vpn.user", "vpn.user-name", "vpn.User name", "vpn.Xauth username",
    "gsm.username", "cdma.username", "pppoe.username", "adsl.username", "wifi-security.leap-username",
  ]
  /// Certificates and keys, which may be in the file itself.
  private static let blobs: Set = ["private-key", "phase2-private-key", "ca-cert", "client-cert", "phase2-client-cert"]
  private static let blobPrefix = "data:;base64,"

  private(set) var entry: Entry
  private let isWireless: Bool
  private let hasWEP: Bool

  init(_ file: Keyfile, _ source: Source.File) {
    let type = Self.group(file.text("type", in: "connection") ?? "")
    isWireless = type == "wifi"
    let folder = ["wifi", "vpn", "wireguard"].contains(type) ? type : "network"
    let name = source.name.hasSuffix(".nmconnection") ? String(source.name.dropLast(13)) : source.name
    entry = Entry(
      .login, id: file.text("uuid", in: "connection") ?? source.path, folder: [folder],
      title: file.text("id", in: "connection") ?? name)
    let lines = file.lines.map { Keyfile.Line(group: Self.group($0.group), key: $0.key, raw: $0.raw) }
    hasWEP = lines.contains { $0.key.hasPrefix("wep-key") && $0.key.count == 8 }
    let main = Self.main(of: lines)
    if isWireless, lines.contains(where: { $0.group == "wifi-security" && $0.key == "psk" || hasWEP }) {
      entry.kind = .wifi
    }
    for (index, line) in lines.enumerated() { add(line, isMain: index == main) }
    if isWireless, main == nil, Self.isOpen(lines) {
      entry.kind = .wifi
      if !entry.fields.contains(where: { $0.name == "security" }) { entry.add("security", .text, "nopass") }
    } else {
      entry.withoutTextsAlone()
    }
  }

  /// The name of a group today: older files have longer ones.
  private static func group(_ name: String) -> String {
    switch name {
    case "802-11-wireless": "wifi"
    case "802-11-wireless-security": "wifi-security"
    default: name
    }
  }

  /// The index of the line whose value becomes that of the item.
  private static func main(of lines: [Keyfile.Line]) -> Int? {
    for (group, keys) in secrets {
      for key in keys {
        let found = lines.lastIndex { $0.group == group && $0.key == key && !$0.raw.isEmpty }
        if let found { return found }
      }
    }
    return lines.firstIndex { $0.group == "vpn-secrets" && !$0.raw.isEmpty }
  }

  /// True for a wireless network that anybody may use: it has no keys, or says that it needs none.
  private static func isOpen(_ lines: [Keyfile.Line]) -> Bool {
    guard !lines.contains(where: { $0.group == "802-1x" }) else { return false }
    let security = lines.filter { $0.group == "wifi-security" }
    guard let management = security.last(where: { $0.key == "key-mgmt" })?.text else { return security.isEmpty }
    return ["none", "owe"].contains(management) && !security.contains { $0.key.hasPrefix("wep-") }
  }

  private mutating func add(_ line: Keyfile.Line, isMain: Bool) {
    let name = "\(line.group).\(line.key)"
    if isMain { return add(secret: line, line.key, .password) }
    if Self.isSecret(line) { return add(secret: line, name, .secret) }
    if line.key.hasSuffix("-flags"), let flags = Int(line.text) { return add(flags: flags, of: line) }
    switch name {
    case "connection.id", "connection.uuid": return
    case "wifi.ssid": entry.put("ssid", .text, Keyfile.listedBytes(line.value) ?? line.value)
    case "wifi.bssid": entry.put("bssid", .text, line.value)
    case "wifi.hidden": entry.add("hidden", line.text == "true" ? .text : .setting, line.text)
    case "wifi-security.key-mgmt": entry.add("security", .text, security(line.text))
    case _ where Self.users.contains(name): entry.put(line.key, .username, line.value)
    case _ where Self.blobs.contains(line.key): addBlob(line, name)
    default: entry.fields.append(Field(name, .setting, line.value))
    }
  }

  private static func isSecret(_ line: Keyfile.Line) -> Bool {
    if line.group == "vpn-secrets" { return true }
    if line.group.hasPrefix("wireguard-peer."), line.key == "preshared-key" { return true }
    return secrets.contains { $0.group == line.group && $0.keys.contains(line.key) }
  }

  private mutating func add(secret line: Keyfile.Line, _ name: String, _ role: ImportedField.Role) {
    let value = line.key == "password-raw" ? Keyfile.listedBytes(line.value) ?? line.value : line.value
    if value.isEmpty { entry.add(name, role, "") } else { entry.put(name, role, value) }
  }

  /// Adds the flags of a secret (NMSettingSecretFlags), which tell whether it lies elsewhere.
  private mutating func add(flags: Int, of line: Keyfile.Line) {
    let name = "\(line.group).\(line.key.dropLast("-flags".count))"
    if flags & 1 != 0 {
      entry.refuse(name, .secret, size: 0, "an agent of the user keeps it, such as a keyring, and not this file")
    } else if flags & 2 != 0 {
      entry.refuse(name, .secret, size: 0, "NetworkManager does not keep it, and asks each time")
    } else {
      entry.fields.append(Field("\(line.group).\(line.key)", .setting, line.value))
    }
  }

  /// Adds a certificate or a key. Most files only name it.
  private mutating func addBlob(_ line: Keyfile.Line, _ name: String) {
    let text = line.text
    let isKey = line.key.hasSuffix("private-key")
    guard text.hasPrefix(Self.blobPrefix), let value = [UInt8](base64: text.dropFirst(Self.blobPrefix.count)) else {
      guard isKey, !line.raw.isEmpty else { return entry.fields.append(Field(name, .setting, line.value)) }
      return entry.refuse(name, .setting, size: line.value.count, "it names a file; import that by itself")
    }
    if isKey { entry.put(name, .secret, value) } else { entry.fields.append(Field(name, .setting, value)) }
  }

  /// The security of a wireless network in the words of an item of kind `wifi`.
  private func security(_ management: String) -> String {
    switch management {
    case "sae": "SAE"
    case "none" where hasWEP, "ieee8021x" where hasWEP: "WEP"
    case "none", "owe": "nopass"
    case "wpa-psk", "wpa-none": "WPA"
    default: management
    }
  }
}

extension Entry {
  /// Makes settings of the texts of an entry that has no secret: alone they are of no use.
  mutating func withoutTextsAlone() {
    let isAlone = fields.allSatisfy {
      ![.password, .secret].contains($0.role) || $0.refusal != nil || $0.value.isEmpty
    }
    guard isAlone else { return }
    for index in fields.indices where [.text, .username].contains(fields[index].role) { fields[index].role = .setting }
  }
}
