internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The mapping of the items of one group to an entry of another program. It is the opposite of ``EntryMapping``.
struct ExportMapping {
  private let form: ExportForm
  private let group: ExportGroup
  private var draft = EntryDraft()
  private var items: [(item: ExportedItem, field: Int?)] = []

  private init(_ group: ExportGroup, _ form: ExportForm) { (self.group, self.form) = (group, form) }

  /// Maps all items that the format can hold. They are in the order of their names.
  static func map(_ items: [ExportedItem], _ form: ExportForm) -> [ExportedEntry] {
    let held = items.filter { ExportPlace.reason($0, form) == nil }
    return ExportGroup.groups(held, form).map { group in
      var mapping = ExportMapping(group, form)
      return mapping.map()
    }
  }

  private mutating func map() -> ExportedEntry {
    place()
    if let main = group.main { add(main: main) }
    if let leader = group.leader { add(attributesOf: leader) }
    for item in group.beside { add(beside: item) }
    if let leader = group.leader { add(timesOf: leader) }
    addVersions()
    return ExportedEntry(entry: draft.finish(), items: items)
  }

  // MARK: The place

  /// Sets the folder, the title and the identification, and adds their fields.
  private mutating func place() {
    guard let leader = group.leader else { return }
    let name = group.main?.name ?? leader.folder ?? leader.name
    var parts = name.text.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    let leaf = parts.removeLast()
    draft.folder = parts
    draft.title = Self.title(leader, leaf)
    draft.id = id(of: leader)
    draft.add("title", .title, text: draft.title)
    if !parts.isEmpty { draft.add("folder", .folder, text: parts.joined(separator: "/")) }
    if !draft.id.isEmpty { draft.add("id", .identifier, text: draft.id) }
  }

  /// The exact title that an import has kept, unless the item was renamed since.
  private static func title(_ item: ExportedItem, _ leaf: String) -> String {
    if let label = item.facts.keyring?.label, !label.isEmpty { return label }
    guard let title = item.mark("title"), let name = try? ItemName(leaf) else { return leaf }
    return ImportNaming.fits(title, name) ? title : leaf
  }

  /// The identification of the entry in a source of this format; empty if there is none.
  private func id(of item: ExportedItem) -> String {
    guard let source = item.mark(ImportKey.source), let id = item.mark(ImportKey.id) else { return "" }
    switch form {
    case .kdbx:
      let isID = id.utf8.count == 32 && id.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
      return source.hasPrefix("kdbx:") && isID ? id : ""
    case .bitwarden: return source.hasPrefix("bitwarden:") ? id : ""
    }
  }

  // MARK: Values

  private mutating func add(main item: ExportedItem) {
    guard let place = ExportPlace.main(item, form) else { return items.append((item, nil)) }
    draft.kind = place.kind
    items.append((item, draft.next))
    add(place.name, place.role, item, mediaType: place.mediaType)
    guard place.kind == .sshKey, let key = item.publicKey else { return }
    for (name, text) in zip(ExportForm.ofPublicKey, [key.key, key.fingerprint])
    where item.facts.attributes[name] == nil {
      draft.add(name, .text, text: String(text.split(separator: "\n").first ?? ""))
    }
  }

  private mutating func add(beside item: ExportedItem) {
    guard let (name, role) = ExportPlace.beside(item, form, draft) else { return items.append((item, nil)) }
    items.append((item, draft.next))
    add(name, role, item)
  }

  /// Adds a value. The secret of one-time codes is written as the URI that other programs read.
  private mutating func add(
    _ name: String, _ role: ImportedField.Role, _ item: ExportedItem, mediaType: String? = nil
  ) {
    let mark = mark(of: item, role)
    if role == .oneTime, let uri = try? ItemURI.uri(of: item.facts, item.value) {
      return draft.add(name, role, uri, mark: mark)
    }
    draft.add(name, role, item.value, mediaType: mediaType, mark: mark)
  }

  /// The mark of a value: the item's kind, if an import would choose another one, and of a value that is empty.
  private func mark(of item: ExportedItem, _ role: ImportedField.Role) -> String? {
    guard form.hasMarks else { return nil }
    let kinds = FittingKind.candidates(role, of: draft.kind, item.value)
    let isNatural = FittingKind.first(of: kinds, for: item.value, item.facts.attributes) == item.kind
    return isNatural && item.value.count > 0 ? nil : item.kind.rawValue
  }

  // MARK: Attributes

  private mutating func add(attributesOf item: ExportedItem) {
    let hasLogin = form.hasLogin(draft.kind)
    for (key, text) in item.ownAttributes.sorted(by: { AttributeFamily($0.key) < AttributeFamily($1.key) }) {
      switch key {
      case "title": continue
      // A document is known by its place.
      case "media-type" where draft.kind == .document: continue
      case "username" where hasLogin: draft.add(form.username, .username, text: text)
      case "url" where hasLogin: draft.add(form.url, .url, text: text)
      case "tags" where form.hasTags && Self.areTags(text):
        for tag in text.split(separator: ",") { draft.add(form.tags, .tag, text: String(tag)) }
      default:
        let isURL = key.hasPrefix("url-") && !form.hasUniqueNames && hasLogin
        let isURI = form.readsURIs && text.lowercased().hasPrefix("otpauth://")
        let role: ImportedField.Role = isURL ? .url : isURI ? .oneTime : .text
        let name = isURL ? form.url : form.free(key)
        draft.add(name, role, text: text, mark: role == .text ? mark(ofText: name, text) : nil)
      }
    }
  }

  /// The mark of an attribute of which an import would otherwise make an item.
  private func mark(ofText name: String, _ text: String) -> String? {
    guard form.hasMarks, !text.isEmpty else { return nil }
    let isNatural = EntryMapping.isKey(name, marked: false) && !SecretName.sounds(name)
    return isNatural ? nil : ImportedField.attribute
  }

  /// True for labels with commas between them that other programs divide in the same way.
  private static func areTags(_ text: String) -> Bool {
    text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { tag in
      !tag.isEmpty && tag.first != " " && tag.last != " " && !tag.contains { ";\t\n".contains($0) }
    }
  }

  private mutating func add(timesOf item: ExportedItem) {
    func time(_ key: String) -> Int64? { item.facts.attributes[key].flatMap { Timestamp.parse($0) } }
    draft.add("created", .created, text: String(time(ImportKey.created) ?? item.facts.created))
    draft.add("modified", .modified, text: String(time(ImportKey.modified) ?? item.facts.modified))
    guard form.hasExpiry, let expiry = item.facts.expires ?? time(ImportKey.expires) else { return }
    let isEnforced = form.hasMarks && item.facts.expires != nil
    draft.add("expires", .expires, text: String(expiry), mark: isEnforced ? ImportedField.enforced : nil)
  }

  // MARK: Versions

  /// Adds the earlier values as far as the format keeps them.
  private mutating func addVersions() {
    for (item, place) in items {
      guard let place else { continue }
      let facts = draft.fields[place].facts
      guard let role = form.role(ofEarlier: facts.role, in: draft.kind) else { continue }
      let all = item.versions
      for (number, version) in all.enumerated() {
        // Programs take two equal values after each other for one.
        let isLast = number + 1 == all.count
        let isSame = isLast ? version.value.isSame(as: item.value) : version.value.isSame(as: all[number + 1].value)
        guard version.value.count > 0, !isSame, version.isText else { continue }
        draft.add(facts.name, role, version.value, time: version.time)
      }
    }
  }
}

extension ExportedItem.Earlier {
  /// True if the value is UTF-8.
  fileprivate var isText: Bool { value.withBytes { UTF8Text.isValid($0) } }
}
