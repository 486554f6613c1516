internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The mapping of one entry of the source to items of the vault.
///
/// One field becomes the value of the entry's main item, and short texts become attributes of this item. Everything
/// else becomes an item of its own beside the main one: secrets, notes, files, and texts that no attribute can hold. If
/// the entry has no field for a main item, the first item beside it has the attributes; an entry of nothing but
/// attributes becomes a note that lists them.
struct EntryMapping {
  /// The most attributes that an entry's fields become; an import adds up to ten of its own.
  static let mostAttributes = Attributes.maximumCount - 10
  /// The keys that only fields with a meaning of their own become.
  private static let reserved = ImportKey.ofImport.union(["title"])

  let entry: SourceEntry
  let place: ImportNaming.Place
  /// The value of the attribute ``ImportKey/source``.
  let source: String
  /// The time of the import in Unix seconds.
  let now: Int64

  /// The roles of the fields. Every text of every source whose name sounds like a secret is one here, because an
  /// attribute is not secret; a text that an export of a vault has marked was an attribute before.
  let roles: [ImportedField.Role]
  var places: [FieldPlace?]
  var items: [ImportedItem] = []
  /// The index of the field that is the value of the main item, which is the first item.
  private(set) var main: Int?
  /// True if the entry has no value of its own, so that its only item is a note of its texts.
  private(set) var isValueless = false
  /// The attributes of the main item, or else of the first item.
  var attributes: [String: String] = [:]
  /// The number of items beside the main one, by the last part of their names.
  private var labels: [ItemName: Int] = [:]

  init(_ entry: SourceEntry, at place: ImportNaming.Place, source: String, now: Int64) {
    (self.entry, self.place, self.source, self.now) = (entry, place, source, now)
    roles = entry.fields.map { field in
      let isUnknown = field.facts.role == .text && field.facts.mark != ImportedField.attribute
      return isUnknown && SecretName.sounds(field.facts.name) ? .secret : field.facts.role
    }
    places = Array(repeating: nil, count: entry.fields.count)
  }

  /// Maps all fields.
  mutating func map(_ naming: inout ImportNaming) -> MappedEntry {
    refuse()
    findMain()
    placeFacts(&naming)
    placeTexts(&naming)
    makeMain()
    placeOthers(&naming)
    if items.isEmpty { listTexts() }
    placeVersions()
    finish()
    return MappedEntry(
      entry, name: place.name, items: items, isValueless: isValueless,
      places: places.map { $0 ?? FieldPlace(fate: .refused("the entry has no item for it")) })
  }

  /// The indices of the fields of these roles that have no place yet.
  func open(_ roles: Set<ImportedField.Role>) -> [Int] {
    entry.fields.indices.filter { places[$0] == nil && roles.contains(self.roles[$0]) }
  }

  private mutating func refuse() {
    for (index, field) in entry.fields.enumerated() {
      if let reason = field.facts.refusal {
        places[index] = FieldPlace(fate: .refused(reason))
      } else if roles[index] == .setting {
        places[index] = FieldPlace(fate: .refused("it is a setting of the program that it comes from"))
      } else if field.value.count == 0, field.facts.mark == nil {
        places[index] = FieldPlace(fate: .refused("it is empty"))
      }
    }
  }

  // MARK: The main item

  private mutating func findMain() {
    let roles: [ImportedField.Role] =
      switch entry.facts.kind {
      case .login, .key, .sshKey, .token, .wifi, .pairing: [.password]
      case .note: [.note]
      case .oneTime: [.oneTime]
      case .document: [.document]
      case .file: [.attachment]
      case .value: [.password, .secret, .note, .text, .document, .attachment]
      }
    for role in roles {
      main = open([role]).first
      if main != nil { return }
    }
  }

  private mutating func makeMain() {
    guard let main else { return makeOpenNetwork() }
    nameNetwork()
    let field = entry.fields[main]
    if let type = mediaType(of: main) { attributes["media-type"] = type }
    let kinds = FittingKind.candidates(field, as: roles[main], of: entry.facts.kind)
    let kind = FittingKind.first(of: kinds, for: field.value, attributes)
    insertMain(kind, field)
    places[main] = FieldPlace(fate: .value, item: 0)
  }

  /// Makes the item of a wireless network that has no passphrase: its value is empty, and its attributes say so.
  private mutating func makeOpenNetwork() {
    guard entry.facts.kind == .wifi, attributes["security"] == "nopass" else { return }
    nameNetwork()
    let nothing = SecretBuffer()
    guard FittingKind.first(of: [.wifi], for: nothing, attributes) == .wifi else { return }
    insertMain(.wifi, SourceField(ImportedField("", .password, size: 0), nothing))
  }

  /// Takes the title for the name of a wireless network without another one.
  private mutating func nameNetwork() {
    if entry.facts.kind == .wifi, attributes["ssid"] == nil { attributes["ssid"] = attributes["title"] }
  }

  private mutating func insertMain(_ kind: ItemKind, _ field: SourceField) {
    let item = ImportedItem(place.name, plain: place.plain, family: place.plain, kind: kind, value: field)
    items.insert(item, at: 0)
    // The items beside the main one were made before it.
    for index in places.indices { if let item = places[index]?.item { places[index]?.item = item + 1 } }
  }

  /// The media type of a file or a document.
  private func mediaType(of index: Int) -> String? {
    let isDocument = roles[index] == .document
    guard isDocument || roles[index] == .attachment else { return nil }
    guard let type = entry.fields[index].facts.mediaType ?? (isDocument ? "application/json" : nil) else { return nil }
    do throws(ValueError) { try Attributes.validate(["media-type": type]) } catch { return nil }
    return type
  }

  // MARK: Items beside it

  /// Makes an item of a field, beside the main one.
  mutating func placeBeside(_ index: Int, _ naming: inout ImportNaming) {
    let field = entry.fields[index]
    let name = field.facts.name.isEmpty ? roles[index].rawValue : field.facts.name
    let beside = naming.name(name, in: place)
    let kinds = FittingKind.candidates(field, as: roles[index], of: entry.facts.kind)
    let item = ImportedItem(
      beside.name, plain: beside.plain, family: beside.family, kind: FittingKind.first(of: kinds, for: field.value),
      value: field)
    item.attributes[ImportKey.field] = label(beside.plain)
    item.otherNames = ImportNaming.otherNames(of: roles[index], beside)
    if let type = mediaType(of: index) { item.attributes["media-type"] = type }
    places[index] = FieldPlace(fate: .beside, item: items.count)
    items.append(item)
  }

  /// The name of a field that no other item of the entry has.
  private mutating func label(_ plain: ItemName) -> String {
    let last = plain.text.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? plain.text
    labels[plain, default: 0] += 1
    let number = labels[plain] ?? 1
    return number > 1 ? "\(last) (\(number))" : last
  }

  /// Makes a note that lists the texts of an entry which has nothing but texts for attributes, such as a login without
  /// a password. What an attribute holds is no secret.
  private mutating func listTexts() {
    let listed: Set<ImportedField.Role> = [.username, .url, .text]
    let lines = entry.fields.indices.compactMap { index -> String? in
      guard case .attribute(let key) = places[index]?.fate, listed.contains(roles[index]) else { return nil }
      return attributes[key].map { "\(key): \($0)" }
    }
    guard !lines.isEmpty else { return refuseAll() }
    let text = SecretBuffer(copying: unsafe lines.joined(separator: "\n").utf8.span.bytes)
    let field = SourceField(ImportedField("", .note, size: text.count), text)
    items = [ImportedItem(place.name, plain: place.plain, family: place.plain, kind: .note, value: field)]
    isValueless = true
  }

  /// The refusal of each field of an entry that has nothing to store.
  static let noValue = "the entry has no value"

  private mutating func refuseAll() {
    for index in places.indices where places[index] != nil {
      if case .refused = places[index]?.fate { continue }
      places[index] = FieldPlace(fate: .refused(Self.noValue))
    }
  }

  // MARK: Attributes

  /// Keeps a text as an attribute; returns false if there is no room for it.
  mutating func keep(_ index: Int, as key: String, _ text: String?) -> Bool {
    guard let text, attributes[key] == nil, attributes.count < Self.mostAttributes else { return false }
    attributes[key] = text
    places[index] = FieldPlace(fate: .attribute(key))
    return true
  }

  /// The key for the next field of a meaning that an entry may have several of: `url`, `url-2` and so on.
  func freeKey(_ key: String) -> String {
    if attributes[key] == nil { return key }
    var number = 2
    while attributes["\(key)-\(number)"] != nil { number += 1 }
    return "\(key)-\(number)"
  }

  /// True if an import makes attributes of texts with this name. Some names are only for items that have such an
  /// attribute in a vault already.
  ///
  /// - Parameter marked: true if an export of a vault has marked the text as an attribute.
  static func isKey(_ name: String, marked: Bool) -> Bool {
    do throws(ValueError) {
      if marked { try Attributes.validate([name: ""]) } else { try Attributes.checkNew(name) }
    } catch { return false }
    return true
  }

  /// The key for a text; nil if no attribute can have its name.
  func key(for field: ImportedField) -> String? {
    let name = field.name
    guard Self.isKey(name, marked: field.mark == ImportedField.attribute) else { return nil }
    // The media type that the source itself gives is the one that counts.
    let isTaken = name == "media-type" && main.map { mediaType(of: $0) != nil } == true
    return Self.reserved.contains(name) || isTaken ? nil : name
  }

  /// Gives the items their attributes.
  private mutating func finish() {
    // An item that holds a field has that field's own facts.
    if let first = items.first { first.attributes.merge(attributes) { own, _ in own } }
    if main != nil {
      items[0].expires = expiry
    } else if let first = items.first, first.kind == .totp {
      // An export makes such an entry of a one-time secret by itself, if its format has them only in logins.
      first.otherNames.append(place.name)
    }
    for item in items {
      item.attributes[ImportKey.source] = source
      if let id = attributes[ImportKey.id] { item.attributes[ImportKey.id] = id }
    }
    for index in places.indices where places[index]?.item == nil {
      if case .refused = places[index]?.fate { continue }
      if places[index] != nil { places[index]?.item = items.isEmpty ? nil : 0 }
    }
  }
}
