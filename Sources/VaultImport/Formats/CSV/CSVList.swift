internal import VaultBytes
internal import VaultWire

/// Values of one column that contain several values.
enum CSVList {
  /// The most fields that a value becomes.
  private static let most = 1000

  /// The URLs in a text that joins them by commas, as Bitwarden and Proton Pass do, or is an array of JSON, as NordPass
  /// writes it.
  ///
  /// A URL may contain commas itself. So where the first URL has a scheme, a comma separates only from another one.
  static func urls(_ text: String) -> [String] {
    if text.utf8.first == UInt8(ascii: "["), let urls = strings(text) { return urls }
    let parts = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    guard parts.count <= most, let first = parts.first else { return [text] }
    var urls: [String] = []
    let needsScheme = hasScheme(String(decoding: first, as: UTF8.self))
    for part in parts {
      let part = String(decoding: part, as: UTF8.self)
      let url = String(part.drop { $0 == " " })
      if urls.isEmpty || !needsScheme || hasScheme(url) {
        urls.append(url)
      } else {
        urls[urls.count - 1] += ",\(part)"
      }
    }
    return urls
  }

  private static func hasScheme(_ url: String) -> Bool {
    let scheme = url.utf8.prefix { $0 != UInt8(ascii: ":") }
    return !scheme.isEmpty && scheme.count < 32 && url.utf8.dropFirst(scheme.count).starts(with: "://".utf8)
      && scheme.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x2B...0x39).contains($0) }
  }

  /// The labels in a text that separates them by commas or semicolons.
  static func tags(_ text: String) -> [String] {
    let tags = text.utf8.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }
    guard tags.count <= most else { return [text] }
    return tags.map { tag in
      let tag = String(decoding: tag, as: UTF8.self).drop { $0 == " " }
      return tag.lastIndex { $0 != " " }.map { String(tag[...$0]) } ?? ""
    }
  }

  /// Adds the custom fields of Bitwarden: `name: value` in a line each. A line without a colon goes on with the value
  /// before it. The file does not tell which of them were hidden.
  static func putLines(_ column: String, _ text: String, into entry: inout Entry) {
    var fields: [(name: String, value: String)] = []
    for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
      let line = String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
      let name = line.utf8.prefix { $0 != UInt8(ascii: ":") }
      let rest = line.utf8.dropFirst(name.count)
      if rest.starts(with: ": ".utf8), name.count <= 256, fields.count < most {
        let name = String(decoding: name, as: UTF8.self)
        fields.append((name.isEmpty ? column : name, String(decoding: rest.dropFirst(2), as: UTF8.self)))
      } else if let last = fields.indices.last {
        fields[last].value += "\n\(line)"
      } else {
        fields.append((column, line))
      }
    }
    for field in fields { entry.put(field.name, .secret, field.value) }
  }

  /// Adds the custom fields of NordPass: an array of objects with a label, a type and a value. Any other text is added
  /// as one secret.
  static func putObjects(_ column: String, _ text: String, into entry: inout Entry) {
    guard let json = array(text), let list = json.member("a", of: json.root), json.kind(list) == .array else {
      return entry.put(column, .secret, text)
    }
    var fields: [(name: String, role: ImportedField.Role, value: String)] = []
    for node in json.elements(of: list) {
      guard json.kind(node) == .object, json.memberCount(of: node) == 3, fields.count < most,
        let name = json.member("label", of: node).flatMap({ json.string($0) }), name.utf8.count <= 256,
        let type = json.member("type", of: node).flatMap({ json.string($0) }),
        let value = json.member("value", of: node).flatMap({ json.string($0) })
      else { return entry.put(column, .secret, text) }
      fields.append((name.isEmpty ? column : name, type == "hidden" ? .secret : FieldName.role(name), value))
    }
    for field in fields { entry.put(field.name, field.role, field.value) }
  }

  /// The texts of an array of JSON; nil for any other text.
  private static func strings(_ text: String) -> [String]? {
    guard let json = array(text), let list = json.member("a", of: json.root), json.kind(list) == .array else {
      return nil
    }
    var strings: [String] = []
    for node in json.elements(of: list) {
      guard let string = json.string(node), strings.count < most else { return nil }
      strings.append(string)
    }
    return strings
  }

  /// The text, which must be one value of JSON, as the only member `a` of an object.
  private static func array(_ text: String) -> JSONObject? {
    let object = Array("{\"a\":\(text)}".utf8)
    guard let json = try? object.withSpan({ (span) throws(JSONFault) in try JSONObject(parsing: span) }) else {
      return nil
    }
    if json.memberCount(of: json.root) != 1 { return nil }
    return json
  }
}
