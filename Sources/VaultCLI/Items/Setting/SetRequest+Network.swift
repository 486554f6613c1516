internal import VaultBytes
internal import VaultModel
internal import VaultWire

// The network of an item of kind `wifi`: its name, and the text of its QR code.
extension SetRequest {
  static let ssid = "ssid"

  private var givenSSID: String? { attributes.last { $0.key == Self.ssid }?.value }

  /// If the value is the text of a QR code, splits it into attributes and the passphrase.
  ///
  /// - Throws: also if the text names another network than the given one, unless a person confirms it.
  mutating func takeApart(_ value: inout SecretBuffer) throws(Failure) {
    guard let text = try NetworkText.read(value) else { return }
    // Attributes of an earlier text, which was refused.
    attributes.removeAll { codedKeys.contains($0.key) }
    if let given = givenSSID, let coded = text.attributes[Self.ssid], given != coded {
      let differs = "the QR code is for the network \(Printable.quoted(coded)), not for \(Printable.quoted(given))"
      try Confirmation(
        consequence: differs, question: "\(differs). Store what the QR code says?",
        advice: "leave --attr ssid out to store what the QR code says"
      ).ask()
      attributes.removeAll { $0.key == Self.ssid }
    }
    value = NetworkText.passphrase(of: text, in: value)
    let given = Set(attributes.map(\.key))
    for (key, value) in NetworkText.attributes(of: text) where !given.contains(key) {
      attributes.append(Attribute(key: key, value: value))
      codedKeys.insert(key)
    }
  }

  /// Removes what is known of another network from the attributes of an item whose value is the text of a QR code.
  ///
  /// - Parameters:
  ///   - all: the attributes that the item will have.
  ///   - earlier: the name of the network that the item is for now; nil for none.
  func forgetOtherNetwork(in all: inout [String: String], earlier: String?) {
    guard !codedKeys.isEmpty else { return }
    for key in codedKeys where all[key]?.isEmpty == true { all[key] = nil }
    if let earlier, all[Self.ssid] != earlier, !attributes.contains(where: { $0.key == Self.accessPoint }) {
      all[Self.accessPoint] = nil
    }
  }

  /// The attribute with the address of the network's access point.
  private static let accessPoint = "bssid"

  /// Asks for the network's name until there is one. An item of kind `wifi` must have a name; nobody is asked if it was
  /// given.
  ///
  /// - Parameter mayFollow: whether the name may also come with the value, as the text of a QR code.
  mutating func askForNetwork(_ session: Session, mayFollow: Bool) throws(Failure) {
    guard kind == ItemKind.wifi.rawValue, givenSSID == nil, Keyboard.canAsk else { return }
    try checkBeforeAsking(session)
    if updates, try attributesThere(session)[Self.ssid] != nil { return }
    let keyboard = try Keyboard(otherwise: "give it with --attr ssid=NAME")
    while true {
      guard let typed = try keyboard.ask("Name of the network (ssid): ", .shown) else { throw Failure(Fault.cancelled) }
      if typed.withBytes({ WiFiText.isURI($0) }) {
        let use = mayFollow ? "give it as the value, where it does not show" : "give the network's name alone"
        try keyboard.show("vault: that is the text of a QR code; \(use)\n")
        if mayFollow { return }
        continue
      }
      if mayFollow, typed.count == 0 { return }
      let name = typed.withBytes { bytes in
        let bytes = Span<UInt8>(_bytes: bytes)
        return String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self)
      }
      if let name, (1...WiFiText.longestName).contains(name.utf8.count) {
        return attributes.append(Attribute(key: Self.ssid, value: name))
      }
      try keyboard.show("vault: a network's name has 1 to \(WiFiText.longestName) bytes of text\n")
    }
  }
}

/// The text of a network's QR code, as the value of an item of kind `wifi`.
enum NetworkText {
  /// Reads a value; nil if it is no such text.
  ///
  /// - Throws: ``Failure`` if no item can describe the network.
  static func read(_ value: borrowing SecretBuffer) throws(Failure) -> WiFiText? {
    do throws(ValueError) { return try value.withBytes { bytes throws(ValueError) in try WiFiText(bytes) } } catch {
      throw Failure(Fault.invalidValue(kind: ItemKind.wifi.rawValue, reason: error.reason, failed: nil))
    }
  }

  /// The passphrase in the value from which the text was read.
  static func passphrase(of text: WiFiText, in value: borrowing SecretBuffer) -> SecretBuffer {
    var passphrase = SecretBuffer(capacity: value.count)
    value.withBytes { bytes in text.writePassphrase(from: bytes) { passphrase.append($0) } }
    return passphrase
  }

  /// The attributes that the text states, in the order of their keys. An empty value stands for an attribute that the
  /// item must not have, because the text describes the whole network.
  static func attributes(of text: WiFiText) -> [(key: String, value: String)] {
    text.attributes.merging(["hidden": ""]) { stated, _ in stated }.sorted { $0.key < $1.key }
  }
}
