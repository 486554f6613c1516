public import VaultWire

/// The reader of Zigbee2MQTT's `secret.yaml` and `configuration.yaml`
/// (https://www.zigbee2mqtt.io/guide/configuration/, lib/util/settings.schema.json in Koenkk/zigbee2mqtt).
public enum Zigbee2MQTTReader: SourceReader {
  private static let folder = "zigbee2mqtt"
  /// Members of the top level that tell the file from settings of other programs.
  private static let signs: Set = ["serial", "advanced", "frontend", "devices", "groups", "permit_join"]
  /// Members whose names sound like secrets, but which are names of files.
  private static let files: Set = ["mqtt.key", "mqtt.cert", "mqtt.ca", "frontend.ssl_key", "frontend.ssl_cert"]

  public static func recognizes(_ source: Source) -> Bool {
    if SecretsFile.file(of: source, named: ["secret.yaml", "secret.yml"]) != nil { return true }
    let names: Set = ["configuration.yaml", "configuration.yml"]
    guard let file = SecretsFile.file(of: source, named: names), file.root["mqtt"]?.isMapping == true else {
      return false
    }
    return file.root.members.contains { signs.contains($0.name) }
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let file = try source.onlyFile()
    let settings = try SecretsFile(file)
    if isSettings(settings.root) {
      let format = ImportedFormat(name: "zigbee2mqtt", detail: "settings of Zigbee2MQTT")
      try entries(of: settings.root, in: file).send(format, into: &sink)
    } else {
      let format = ImportedFormat(name: "zigbee2mqtt", detail: "secrets of Zigbee2MQTT")
      try settings.entries(in: folder).send(format, into: &sink)
    }
  }

  /// True for the settings themselves, of which a member is a mapping; secrets are scalars and lists.
  private static func isSettings(_ root: YAMLNode) -> Bool { root.members.contains { $0.value.isMapping } }

  /// The entries of the settings: the network's key, and whatever sounds like a secret.
  private static func entries(of root: YAMLNode, in file: Source.File) -> GatewayEntries {
    var found = GatewayEntries(root: folder)
    collect(root, [], file, &found)
    return found
  }

  /// The depth of the calls is that of the value, which is limited.
  private static func collect(_ node: YAMLNode, _ path: [String], _ file: Source.File, _ found: inout GatewayEntries) {
    let isSecret =
      path.last.map { FieldName.role($0) == .secret } == true && !files.contains(path.joined(separator: "."))
    switch node.content {
    case .mapping(let members) where !members.isEmpty:
      for member in members { collect(member.value, path + [member.name], file, &found) }
    case .sequence(let elements) where !elements.isEmpty:
      if isSecret, elements.allSatisfy({ $0.bytes != nil }) {
        return SecretsFile.addList(node, path, in: file, to: &found)
      }
      for (index, element) in elements.enumerated() { collect(element, path + [String(index + 1)], file, &found) }
    case .scalar, .mapping, .sequence:
      // GENERATE asks Zigbee2MQTT to make a key of its own.
      let isHere = isSecret && !node.isBool && node.text != "GENERATE"
      if isHere || URLText.hasPassword(node.bytes ?? []) {
        SecretsFile.add(scalar: node, path, in: file, to: &found)
      } else {
        found.addSetting(path, node.bytes ?? [])
      }
    }
  }
}
