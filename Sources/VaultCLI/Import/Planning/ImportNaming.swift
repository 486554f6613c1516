internal import VaultModel
internal import VaultWire

/// The names of imported items.
///
/// The name of an item consists of the folders of its entry and the entry's title. Further fields of the entry become
/// items in the folder of that name. The names depend on the source alone, so that a second import of the same source
/// finds the items of the first one.
struct ImportNaming {
  /// The name of an entry's main item, and the folder of the entry's other items.
  struct Place {
    let name: ItemName
    /// The name without the number that tells it from others.
    let plain: ItemName
    let folder: [String]
    /// The folder without that number.
    let plainFolder: [String]

    /// The folder with or without its number, as a part of the name of an item.
    fileprivate func parts(_ leaf: String, isPlain: Bool) -> [String] { (isPlain ? plainFolder : folder) + [leaf] }
  }

  /// The name of an item beside the main one.
  struct Beside {
    let name: ItemName
    /// The name without the number that tells it from others.
    let plain: ItemName
    /// The plain name in the folder without a number.
    let family: ItemName
  }

  /// The first folders that the vault keeps for itself.
  static let reserved: Set<String> = [CollectionID.root]
  /// The folder into which a reserved folder of the source goes.
  static let moved = "imported"
  /// The title of an entry that has none.
  static let untitled = "untitled"
  /// The longest folder for all items, in bytes and parts, so that something of each name remains when it is cut.
  static let longestFolder = (bytes: 128, parts: 8)

  /// The most bytes of a folder, and of the name of an item in it.
  private static let most = (folder: 384, leaf: 100)

  private let into: [String]
  private var taken: Set<ItemName> = []
  /// The number that the next item of the same plain name gets.
  private var next: [ItemName: Int] = [:]

  /// - Parameter into: the parts of the folder for all items.
  init(into: [String] = []) { self.into = into }

  /// Finds the place of an entry.
  ///
  /// - Parameter url: the first URL of the entry, whose host takes the place of a missing title.
  mutating func place(_ entry: ImportedEntry, url: String?) -> Place {
    let folders = into + entry.folder.map { Self.part($0) ?? Self.untitled }
    let title = Self.part(entry.title) ?? url.flatMap { Self.host(of: $0) }.flatMap { Self.part($0) } ?? Self.untitled
    var parts = folders + [title]
    // A title alone may be the folder of other fields.
    if Self.reserved.contains(parts[0]) { parts.insert(Self.moved, at: 0) }
    let (name, number) = take(parts)
    var own = parts
    if number > 1 { own[own.count - 1] += Self.suffix(number) }
    return Place(name: name, plain: Self.plain(parts), folder: Self.folder(own), plainFolder: Self.folder(parts))
  }

  /// Finds the name of a field that becomes an item beside the main one.
  mutating func name(_ field: String, in place: Place) -> Beside {
    let leaf = ShortenedName.parts([Self.part(field) ?? Self.untitled], bytes: Self.most.leaf, count: 3).last ?? ""
    let parts = place.parts(leaf, isPlain: false)
    return Beside(
      name: take(parts).name, plain: Self.plain(parts), family: Self.plain(place.parts(leaf, isPlain: true)))
  }

  /// The other names that the item of a field beside the main one may have in the vault. Each format has its own name
  /// for the note and the one-time secret of an entry, and an underscore after a name that means something to it.
  static func otherNames(of role: ImportedField.Role, _ beside: Beside) -> [ItemName] {
    [beside.name, beside.family].flatMap { name -> [ItemName] in
      let parts = name.text.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
      guard let leaf = parts.last else { return [] }
      var leaves: [String] = leaf.utf8.last == UInt8(ascii: "_") ? [String(leaf.dropLast())] : []
      for names in [["Notes", "notes"], ["otp", "totp"]] where names.contains(leaf) { leaves += names }
      return leaves.filter { $0 != leaf }.compactMap { try? ItemName((parts.dropLast() + [$0]).joined(separator: "/")) }
    }
  }

  /// True if an item of this name fits the title of an entry.
  static func fits(_ title: String, _ name: ItemName) -> Bool {
    guard let part = part(title) else { return false }
    let leaf = name.text.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
    let plain = unnumbered(leaf)?.text ?? leaf
    return [leaf, plain].contains { $0.utf8.elementsEqual(part.utf8) }
  }

  /// The name that an import gives an item of the vault's keyring with this label; nil if there is none.
  static func movedName(_ name: ItemName, label: String) -> ItemName? {
    guard let folder = name.folders.last, let part = part(label) else { return nil }
    return try? ItemName("\(moved)/\(folder)/\(part)")
  }

  private static func folder(_ parts: [String]) -> [String] {
    ShortenedName.parts(parts, bytes: most.folder, count: ItemName.maximumSegments - 1)
  }

  /// Takes the name of the parts, with a number after it if it is taken already.
  private mutating func take(_ parts: [String]) -> (name: ItemName, number: Int) {
    let plain = Self.plain(parts)
    var number = next[plain] ?? 1
    while true {
      let name = Self.numbered(plain, number)
      number += 1
      guard taken.insert(name).inserted else { continue }
      next[plain] = number
      return (name, number - 1)
    }
  }

  // MARK: Texts

  /// Returns a text of the source as a part of a name; nil if nothing remains of it, or a part that no name has.
  static func part(_ text: String) -> String? {
    let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      if scalar == "/" { return "\u{2215}" }
      return scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? "_" : scalar
    }
    let part = String(String.UnicodeScalarView(scalars))
    return part.isEmpty || part.utf8.elementsEqual(".".utf8) || part.utf8.elementsEqual("..".utf8) ? nil : part
  }

  /// Returns the host of a URL (RFC 3986, section 3.2), or of a text such as `example.org/login`; nil if it has none.
  static func host(of url: String) -> String? {
    let bytes = Array(url.utf8)
    var start = 0
    if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[(colon + 1)...].starts(with: "//".utf8) {
      start = colon + 3
    }
    var host = bytes[start...].prefix { !"/?#".utf8.contains($0) }
    if let at = host.lastIndex(of: UInt8(ascii: "@")) { host = host[(at + 1)...] }
    // An IPv6 address stands between brackets.
    let end = host.first == UInt8(ascii: "[") ? host.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : nil
    host = host[..<(end ?? host.firstIndex(of: UInt8(ascii: ":")) ?? host.endIndex)]
    return host.isEmpty ? nil : String(decoding: host, as: UTF8.self)
  }

  /// True if a URL contains a password (RFC 3986, section 3.2.1).
  static func hasPassword(_ url: String) -> Bool {
    guard let start = url.utf8.firstIndex(of: UInt8(ascii: "/")) else { return false }
    let authority = url.utf8[start...].drop { $0 == UInt8(ascii: "/") }.prefix { !"/?#".utf8.contains($0) }
    guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return false }
    return authority[..<at].contains(UInt8(ascii: ":"))
  }

  /// The name of the parts, cut so that a number has room after it.
  private static func plain(_ parts: [String]) -> ItemName {
    let most = ItemName.maximumBytes - ShortenedName.reserve
    return name(ShortenedName.parts(parts, bytes: most, count: ItemName.maximumSegments).joined(separator: "/"))
  }

  /// The name with a number after it; number 1 is the name itself.
  static func numbered(_ plain: ItemName, _ number: Int) -> ItemName {
    number > 1 ? name(plain.text + suffix(number)) : plain
  }

  private static func suffix(_ number: Int) -> String { " (\(number))" }

  /// The names under which an import may look for an item of this name: without the number after it, without the one
  /// after its folder, without both, and the name itself.
  static func families(_ name: ItemName) -> [ItemName] {
    let forms = [name, unnumbered(name.text)].compactMap { $0 }
    return forms
      + forms.compactMap { form in
        guard let slash = form.text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let folder = unnumbered(String(form.text[..<slash]))
        return folder.flatMap { try? ItemName($0.text + form.text[slash...]) }
      }
  }

  /// The plain name of a name with a number after it; nil if there is no such number.
  static func unnumbered(_ name: String) -> ItemName? {
    let bytes = name.utf8
    guard bytes.last == UInt8(ascii: ")"), let open = bytes.lastIndex(of: UInt8(ascii: "(")) else { return nil }
    let digits = name[bytes.index(after: open)...].dropLast()
    guard let number = Int(digits), number > 1, digits.utf8.elementsEqual(String(number).utf8) else { return nil }
    let plain = name[..<open]
    return plain.utf8.last == UInt8(ascii: " ") ? try? ItemName(String(plain.dropLast())) : nil
  }

  /// The item's name. The parts are valid and short enough, so the hash is never needed.
  private static func name(_ text: String) -> ItemName {
    if let name = try? ItemName(text) { return name }
    return name("\(untitled)-\(ShortenedName.hex(ShortenedName.fnv1a(text.utf8)))")
  }
}
