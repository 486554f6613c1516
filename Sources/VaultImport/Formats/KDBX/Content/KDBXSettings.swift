/// The facts of groups and entries that matter only to KeePass, by the path of their elements.
enum KDBXSettings {
  /// The values that say nothing: those of a new entry, and those of a new group.
  private static let entryDefaults = [
    "IconID": ["0"], "QualityCheck": ["True"], "AutoType/Enabled": ["True"],
    "AutoType/DataTransferObfuscation": ["0"], "CustomIconUUID": [nothing], "PreviousParentGroup": [nothing],
  ]
  private static let groupDefaults = [
    "IconID": ["0", "48", "49"], "EnableAutoType": ["null", "true", "True"],
    "EnableSearching": ["null", "true", "True"], "CustomIconUUID": [nothing], "PreviousParentGroup": [nothing],
  ]
  private static let nothing = "AAAAAAAAAAAAAAAAAAAAAA=="

  /// The settings of an entry. The other elements are fields of their own.
  static func ofEntry(_ element: XMLElement) -> [KDBXSetting] {
    settings(element, except: ["UUID", "String", "Binary", "Tags", "Times", "History"], entryDefaults)
  }

  /// The settings of a group.
  static func ofGroup(_ element: XMLElement) -> [KDBXSetting] {
    let names = ["UUID", "Name", "Notes", "Times", "IsExpanded", "LastTopVisibleEntry", "Entry", "Group"]
    let times = element.child("Times")
    var found = settings(element, except: names, groupDefaults)
    if let times, times.string("Expires") == "True", let time = times.child("ExpiryTime") {
      found.append(KDBXSetting(name: "ExpiryTime", value: time.text))
    }
    return found
  }

  private static func settings(
    _ element: XMLElement, except names: [String], _ defaults: [String: [String]]
  ) -> [KDBXSetting] {
    var found: [KDBXSetting] = []
    // The elements to visit, the next one last. An own list, because a file decides how deep elements are nested.
    var rest = element.children.reversed().filter { !names.contains($0.name) }.map { (path: $0.name, element: $0) }
    while let (path, element) = rest.popLast() {
      if let setting = pair(path, element) {
        found.append(setting)
      } else if element.children.isEmpty {
        found.append(KDBXSetting(name: path, value: element.text))
      } else {
        rest += element.children.reversed().map { (path: "\(path)/\($0.name)", element: $0) }
      }
    }
    return found.filter { setting in
      !setting.value.isEmpty && !(defaults[setting.name] ?? []).contains { setting.value.elementsEqual($0.utf8) }
    }
  }

  /// The setting that an element with two parts stands for: an item of custom data, or a rule for automatic typing.
  private static func pair(_ path: String, _ element: XMLElement) -> KDBXSetting? {
    if element.name == "Item", let key = element.child("Key"), let value = element.child("Value") {
      return KDBXSetting(name: "\(path.dropLast("/Item".utf8.count))/\(key.string)", value: value.text)
    }
    if element.name == "Association", let window = element.child("Window"),
      let keys = element.child("KeystrokeSequence")
    {
      let isEmpty = window.text.isEmpty && keys.text.isEmpty
      return KDBXSetting(name: path, value: isEmpty ? [] : window.text + Array(": ".utf8) + keys.text)
    }
    return nil
  }
}

extension [KDBXSetting] {
  /// The memory that the settings take, in bytes.
  var cost: Int { reduce(0) { $0 + 128 + $1.name.utf8.count + $1.value.count } }
}
