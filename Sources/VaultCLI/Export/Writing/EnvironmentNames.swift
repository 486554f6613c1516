internal import VaultModel
internal import VaultWire

/// The variables of the items of an export.
///
/// An item that an import has made of a variable gets that variable back, unless it was renamed since or another item
/// has the same one. Any other item's variable is its whole name; see ``whole(_:)``.
struct EnvironmentNames {
  /// The formats whose items are variables.
  private static let formats = ["env", "env-docker", "env-systemd", "dotfiles"]

  private var variables: [ItemName: String] = [:]
  /// The items that get their own variable back.
  private var own: Set<ItemName> = []

  /// Throws if two items would have the same variable.
  init(_ items: [(name: ItemName, facts: Wire.Item)]) throws(Failure) {
    var counts: [String: Int] = [:]
    for (name, facts) in items { counts[Self.own(name, facts) ?? Self.whole(name), default: 0] += 1 }
    var owners: [String: ItemName] = [:]
    for (name, facts) in items {
      let ownVariable = Self.own(name, facts).flatMap { counts[$0] == 1 ? $0 : nil }
      if ownVariable != nil { own.insert(name) }
      let variable = ownVariable ?? Self.whole(name)
      if let other = owners.updateValue(name, forKey: variable) {
        throw Failure(
          .invalid, "\(Printable.quoted(other.text)) and \(Printable.quoted(name.text)) would both be \(variable)",
          "leave one of them out by a predicate, or rename it")
      }
      variables[name] = variable
    }
  }

  func variable(of name: ItemName) -> String { variables[name] ?? Self.whole(name) }

  /// True if the item gets back the variable of which an import has made it.
  func isOwn(_ name: ItemName) -> Bool { own.contains(name) }

  /// The variable of which an import has made the item; nil if there is none, or if the item was renamed since.
  private static func own(_ name: ItemName, _ facts: Wire.Item) -> String? {
    guard let source = facts.attributes[ImportKey.source], let id = facts.attributes[ImportKey.id],
      formats.contains(where: { source.hasPrefix("\($0):") }), id.hasPrefix("env/"),
      let variable = id.utf8.split(separator: UInt8(ascii: "/")).last.map({ String(Substring($0)) }),
      VariableName.isValid(variable.utf8)
    else { return nil }
    return ImportNaming.fits(variable, name) ? variable : nil
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
