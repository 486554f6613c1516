internal import VaultWire

/// A file `secrets.yaml` of Home Assistant or ESPHome, or `secret.yaml` of Zigbee2MQTT: a mapping from names to values,
/// to which other files of the program refer by `!secret NAME`.
///
/// Home Assistant: https://www.home-assistant.io/docs/configuration/secrets/. ESPHome:
/// https://esphome.io/guides/yaml.html. Zigbee2MQTT: https://www.zigbee2mqtt.io/guide/configuration/frontend.html.
struct SecretsFile {
  private let file: Source.File
  let root: YAMLNode

  init(_ file: Source.File) throws(ImportFailure) {
    self.file = file
    root = try YAMLDocuments.only(file.bytes, hasPlaces: true)
    guard root.isMapping || root.isNull else {
      throw ImportFailure(.unknown, "the file does not consist of names with values")
    }
  }

  /// The only file, if it has one of the names.
  static func file(of source: Source, named names: Set<String>) -> SecretsFile? {
    guard let file = try? source.onlyFile(), names.contains(file.name.lowercased()) else { return nil }
    return try? SecretsFile(file)
  }

  /// The values as entries.
  func entries(in folder: String) -> GatewayEntries {
    var found = GatewayEntries(root: folder)
    for member in root.members { add(member.value, [member.name], to: &found) }
    return found
  }

  /// The depth of the calls is that of the value, which is limited.
  private func add(_ node: YAMLNode, _ path: [String], to found: inout GatewayEntries) {
    switch node.content {
    case .mapping(let members) where !members.isEmpty:
      for member in members { add(member.value, path + [member.name], to: &found) }
    // Keys are lists of numbers, which belong together.
    case .sequence(let elements) where elements.allSatisfy({ $0.bytes != nil && $0.tag == nil }) && !elements.isEmpty:
      Self.addList(node, path, in: file, to: &found)
    case .sequence(let elements) where !elements.isEmpty:
      for (index, element) in elements.enumerated() { add(element, path + [String(index + 1)], to: &found) }
    case .scalar, .mapping, .sequence: Self.add(scalar: node, path, in: file, to: &found)
    }
  }

  /// Adds a list of scalars as the text that it is in the file.
  static func addList(_ node: YAMLNode, _ path: [String], in file: Source.File, to found: inout GatewayEntries) {
    guard let place = YAMLValuePlace.of(node, in: file.bytes), !node.isAlias else {
      return found.refuse(path, size: node.place.count, "only its alias or its tag is here, and not its text")
    }
    let text = Array(file.bytes[place])
    found.add(path, named: path, text, place: ImportedPlace(place, .yaml))
  }

  /// Adds a scalar, unless its tag says that the value lies elsewhere.
  static func add(scalar node: YAMLNode, _ path: [String], in file: Source.File, to found: inout GatewayEntries) {
    let text = node.bytes ?? []
    guard !node.isNull, !text.isEmpty, node.refersElsewhere == false else { return found.addSetting(path, text) }
    if node.isAlias { return found.add(path, named: path, text, place: nil) }
    guard let place = YAMLValuePlace.of(node, in: file.bytes) else {
      return found.refuse(path, size: text.count, "its anchor or its tag stands on another line than the value")
    }
    found.add(path, named: path, text, place: ImportedPlace(place, .yaml))
  }
}

extension YAMLNode {
  /// True if the value is not here: `!secret NAME`, `!include FILE`, `!env_var NAME` and the like. Zigbee2MQTT also has
  /// them as texts: `'!secret.yaml NAME'`. YAML's own tags, such as `!!str`, only say what the value is.
  var refersElsewhere: Bool {
    if let tag { return !tag.hasPrefix("tag:yaml.org,2002:") && tag != "!" }
    guard let text, text.utf8.first == UInt8(ascii: "!") else { return false }
    let first = text.split(separator: " ", maxSplits: 1).first.map(String.init) ?? ""
    return first == "!secret" || first.hasSuffix(".yaml") || first.hasSuffix(".yml")
  }
}
