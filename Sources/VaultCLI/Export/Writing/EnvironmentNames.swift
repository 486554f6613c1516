internal import VaultModel
internal import VaultWire

/// The variables of the items of an export.
///
/// An item that an import has made of a variable gets that variable back, unless it was renamed since or another item
/// has the same one. Any other item's variable is its whole name; see ``whole(_:)``.
///
/// The attributes of an import prove nothing in an item that somebody else has made or written; see ``Importer``. So
/// the variable of such an item is its whole name. It takes no variable away from another item, and none that changes
/// how programs run.
struct EnvironmentNames {
  /// The formats whose items are variables.
  private static let formats = ["env", "env-docker", "env-systemd", "dotfiles"]

  /// An item, and whether it is the exporter's own; see ``ExportedItem/isOwn``.
  typealias Item = (name: ItemName, facts: Wire.Item, isOwn: Bool)

  private var variables: [ItemName: String] = [:]
  /// The items that get their own variable back.
  private var returned: Set<ItemName> = []
  /// The items of others that get no variable, and the reasons.
  private(set) var leftOut: [(name: ItemName, reason: String)] = []

  /// Throws if two items of the exporter's own would have the same variable.
  init(_ items: [Item]) throws(Failure) {
    try add(own: items.filter { $0.isOwn })
    add(foreign: items.filter { !$0.isOwn }.map { $0.name })
  }

  private mutating func add(own items: [Item]) throws(Failure) {
    var counts: [String: Int] = [:]
    for item in items { counts[Self.imported(item) ?? Self.whole(item.name), default: 0] += 1 }
    var owners: [String: ItemName] = [:]
    for item in items {
      let name = item.name
      let imported = Self.imported(item).flatMap { counts[$0] == 1 ? $0 : nil }
      if imported != nil { returned.insert(name) }
      let variable = imported ?? Self.whole(name)
      if let other = owners.updateValue(name, forKey: variable) {
        throw Failure(
          .invalid, "\(Printable.quoted(other.text)) and \(Printable.quoted(name.text)) would both be \(variable)",
          "leave one of them out by a predicate, or rename it")
      }
      variables[name] = variable
    }
  }

  /// Adds the items of others. One of them could take the place of another's, so two with the same variable are both
  /// left out.
  private mutating func add(foreign names: [ItemName]) {
    let taken = Set(variables.values)
    let counts = Dictionary(names.map { (Self.whole($0), 1) }, uniquingKeysWith: +)
    for name in names {
      let variable = Self.whole(name)
      if ProgramVariables.contains(variable) {
        leftOut.append((name, "somebody else has made or written it, and \(variable) changes how programs run"))
      } else if taken.contains(variable) || counts[variable] != 1 {
        leftOut.append((name, "somebody else has made or written it, and another item is \(variable), too"))
      } else {
        variables[name] = variable
      }
    }
  }

  /// The variable of an item; nil if the item is left out.
  func variable(of name: ItemName) -> String? { variables[name] }

  /// True if the item gets back the variable of which an import has made it.
  func isReturned(_ name: ItemName) -> Bool { returned.contains(name) }

  /// The variable of which an import has made the item; nil if there is none, or if the item was renamed since.
  private static func imported(_ item: Item) -> String? {
    guard let source = item.facts.attributes[ImportKey.source], let id = item.facts.attributes[ImportKey.id],
      formats.contains(where: { source.hasPrefix("\($0):") }), id.hasPrefix("env/"),
      let variable = id.utf8.split(separator: UInt8(ascii: "/")).last.map({ String(Substring($0)) }),
      VariableName.isValid(variable.utf8)
    else { return nil }
    return ImportNaming.fits(variable, item.name) ? variable : nil
  }

  /// The whole name in capital letters, with `_` for each byte that no variable has, such as `OWM_APPID` for
  /// `owm/appid`.
  static func whole(_ name: ItemName) -> String {
    let bytes = name.text.utf8.map { byte in
      guard VariableName.isPart(byte) else { return UInt8(ascii: "_") }
      return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & ~0x20 : byte
    }
    let text = String(decoding: bytes, as: UTF8.self)
    return VariableName.isValid(bytes) ? text : "_" + text
  }
}
