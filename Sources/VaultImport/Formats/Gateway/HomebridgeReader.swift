public import VaultWire

/// The reader of Homebridge's `config.json` (config-sample.json in homebridge/homebridge, and
/// https://github.com/homebridge/homebridge/wiki/Homebridge-Config-JSON-Explained).
///
/// The pin and the address of the bridge become items, and so does whatever sounds like a secret in the settings of a
/// platform or an accessory, of which Homebridge knows nothing.
public enum HomebridgeReader: SourceReader {
  private static let folder = "homebridge"
  private static let ofBridge: Set = ["pin", "username", "setupID"]

  public static func recognizes(_ source: Source) -> Bool {
    guard let file = try? source.onlyFile(), let root = try? JSONLeaves.value(file.bytes), let bridge = root["bridge"]
    else { return false }
    return bridge["pin"] != nil || bridge["username"] != nil || root["platforms"]?.isArray == true
  }

  public static func read(_ source: Source, into sink: inout some EntrySink) throws(ImportFailure) {
    let file = try source.onlyFile()
    let root = try JSONLeaves.value(file.bytes)
    guard root["bridge"]?.isObject == true else { throw ImportFailure(.unknown, "the JSON has no object 'bridge'") }
    var found = GatewayEntries(root: folder)
    var room = NameRoom()
    for leaf in try JSONLeaves(file.bytes).leaves {
      // The names that people give are not in the path.
      let names = names(leaf.path, in: root)
      try room.take((leaf.path.map(\.text) + names).reduce(0) { $0 + $1.utf8.count + 1 })
      add(leaf, names, to: &found)
    }
    try found.send(ImportedFormat(name: "homebridge", detail: "settings of Homebridge"), into: &sink)
  }

  private static func add(_ leaf: JSONLeaves.Leaf, _ names: [String], to found: inout GatewayEntries) {
    let path = leaf.path.map(\.text)
    let key = leaf.path.last { if case .key = $0 { true } else { false } }?.text ?? ""
    let isOfBridge = path.count == 2 && path[0] == "bridge" && ofBridge.contains(key)
    // A bridge of its own has a plugin's pin and address, too.
    let isOfChild = path.count >= 2 && path[path.count - 2] == "_bridge" && ofBridge.contains(key)
    // Plugins for Hue keep the tokens of bridges by the bridges' numbers.
    let isToken = path.count >= 2 && path[path.count - 2] == "users"
    let isSecret = FieldName.role(key) == .secret || isOfBridge || isOfChild || isToken
    guard let value = leaf.value, !value.isEmpty, isSecret || URLText.hasPassword(value) else {
      return found.addSetting(path, leaf.value ?? [])
    }
    found.add(
      path, named: names, value, place: ImportedPlace(leaf.place, .json),
      isPairing: key == "pin" && (isOfBridge || isOfChild))
  }

  /// The names for a value: those of the bridge are in the folder itself, and an element of a list has the name that it
  /// has for people.
  private static func names(_ path: [JSONLeaves.Step], in root: JSONValue) -> [String] {
    var (value, names): (JSONValue, [String]) = (root, [])
    for (index, step) in path.enumerated() {
      switch step {
      case .key(let key):
        value = value.members.first { $0.name.utf8.elementsEqual(key.utf8) }?.value ?? .null
        let isFolder = index == 0 && ["bridge", "platforms", "accessories"].contains(key)
        if !isFolder { names.append(key) }
      case .index(let number):
        value = value.elements.indices.contains(number) ? value.elements[number] : .null
        let given = ["name", "platform", "accessory"].lazy.compactMap { name in
          value.members.first { $0.name == name }?.value.string
        }
        names.append(given.first { !$0.isEmpty } ?? String(number + 1))
      }
    }
    return names
  }
}
