internal import VaultBytes
internal import VaultWire

extension KDBXEntry {
  /// Reads the element of an entry.
  init(_ element: XMLElement, group: Int?) throws(ImportFailure) {
    self.group = group
    id = Self.id(element.string("UUID"))
    current = try KDBXVersion(element)
    for version in element.child("History")?.children ?? [] where version.name == "Entry" {
      history.append(try KDBXVersion(version))
    }
  }

  /// An identification in hexadecimal digits; empty for none, which is also written as zeros.
  static func id(_ base64: String) -> String {
    guard let bytes = [UInt8](base64: base64), bytes.count == 16, bytes.contains(where: { $0 != 0 }) else { return "" }
    return bytes.hex
  }

  /// The memory that the entry takes, in bytes.
  var cost: Int { history.reduce(256 + current.cost) { $0 + $1.cost } }
}

extension KDBXVersion {
  init(_ element: XMLElement) throws(ImportFailure) {
    for child in element.children {
      switch child.name {
      case "String": addText(child)
      case "Binary": try addAttachment(child)
      case "Tags": tags += Self.tags(child.string)
      case "Times": readTimes(child)
      default: break
      }
    }
    settings += KDBXSettings.ofEntry(element)
  }

  private mutating func addText(_ element: XMLElement) {
    guard let value = element.child("Value") else { return }
    let isProtected = value.attributes.contains { $0 == ("Protected", "True") || $0 == ("ProtectInMemory", "True") }
    texts.append(KDBXText(key: element.string("Key"), value: value.text, isProtected: isProtected))
  }

  private mutating func addAttachment(_ element: XMLElement) throws(ImportFailure) {
    guard let value = element.child("Value") else { return }
    let reference = value.attributes.first { $0.name == "Ref" }?.value
    let content = reference == nil ? try KDBXBinary(value) : nil
    attachments.append(KDBXAttachment(name: element.string("Key"), reference: reference, content: content))
  }

  /// The labels, which KeePass separates by semicolons, and others by commas or tabs.
  private static func tags(_ text: String) -> [String] {
    text.split { ";,\t\n".contains($0) }.map { tag in
      let tag = tag.drop { $0 == " " }
      return String(tag.lastIndex { $0 != " " }.map { tag[...$0] } ?? "")
    }.filter { !$0.isEmpty }
  }

  private mutating func readTimes(_ element: XMLElement) {
    for (name, place) in [("CreationTime", \KDBXVersion.created), ("LastModificationTime", \KDBXVersion.modified)] {
      guard let text = element.child(name)?.string, !text.isEmpty else { continue }
      self[keyPath: place] = KDBXTime.seconds(text)
      if self[keyPath: place] == nil { settings.append(KDBXSetting(name: name, value: Array(text.utf8))) }
    }
    if element.string("Expires") == "True" {
      let text = element.string("ExpiryTime")
      expires = KDBXTime.seconds(text)
      if expires == nil { settings.append(KDBXSetting(name: "ExpiryTime", value: Array(text.utf8))) }
    }
    let uses = element.string("UsageCount")
    if !uses.isEmpty, uses != "0" { settings.append(KDBXSetting(name: "UsageCount", value: Array(uses.utf8))) }
  }

  /// The memory that the version takes, in bytes.
  fileprivate var cost: Int {
    var cost = 256 + settings.cost
    for text in texts { cost += 128 + text.key.utf8.count + text.value.count }
    for attachment in attachments { cost += 128 + attachment.name.utf8.count + (attachment.content?.cost ?? 0) }
    for tag in tags { cost += 48 + tag.utf8.count }
    return cost
  }
}
