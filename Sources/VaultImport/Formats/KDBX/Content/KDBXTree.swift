internal import VaultBytes
internal import VaultWire

/// The content of a database, built from the parts of its XML document (KeePass: KdbxFile.Read.Streamed.cs).
///
/// An entry becomes a compact value when it ends, so the document is never held whole.
struct KDBXTree {
  /// An element that has not ended yet.
  private struct Frame {
    var element: XMLElement
    /// True if the value is encrypted by the key stream.
    let isProtected: Bool
    /// The number of the group that the element is.
    let group: Int?
    /// The charge for the element and its children.
    var cost: Int
  }

  /// The charge for an element in bytes, without its text.
  private static let elementCost = 256

  private let protection: KDBXProtection
  private var budget: KDBXBudget
  private var path: [Frame] = []
  private var hasRoot = false
  private(set) var document = KDBXDocument()

  init(_ container: KDBXContainer, _ budget: KDBXBudget) {
    (protection, self.budget) = (container.protection, budget)
    for (number, binary) in container.binaries.enumerated() { document.binaries[String(number)] = binary }
  }

  /// Reads the whole document.
  static func read(_ container: KDBXContainer, _ budget: KDBXBudget) throws(ImportFailure) -> KDBXDocument {
    var tree = KDBXTree(container, budget)
    var stream = container.document
    let reader = try XMLReader()
    while let piece = try stream.next() { try tree.add(reader.read(piece)) }
    try tree.add(reader.read([], isLast: true))
    guard tree.hasRoot else { throw ImportFailure(.damaged, "the document in the database is not one of KeePass") }
    return tree.document
  }

  private mutating func add(_ events: [XMLEvent]) throws(ImportFailure) {
    for event in events {
      switch event {
      case .start(let name, let attributes): try start(name, attributes)
      case .text(let text): try add(text)
      case .end: try end()
      }
    }
  }

  private mutating func start(_ name: String, _ attributes: [(name: String, value: String)]) throws(ImportFailure) {
    let size = attributes.reduce(name.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
    try budget.take(Self.elementCost + size)
    var group: Int?
    if let parent = path.last, name == "Group", parent.group != nil || isRoot(parent) {
      try budget.take(Self.elementCost)
      group = document.groups.count
      document.groups.append(KDBXGroup(parent: parent.group))
    }
    // The text of an element that has children is only the white space between them.
    if !path.isEmpty, !path[path.count - 1].element.text.isEmpty {
      path[path.count - 1].element.text.removeAll()
    }
    let isProtected = attributes.contains { $0 == ("Protected", "True") }
    path.append(
      Frame(
        element: XMLElement(name, attributes), isProtected: isProtected, group: group, cost: Self.elementCost + size))
  }

  /// Decides whether an element is the one that contains the groups.
  private func isRoot(_ frame: Frame) -> Bool { path.count == 2 && frame.element.name == "Root" }

  private mutating func add(_ text: ArraySlice<UInt8>) throws(ImportFailure) {
    guard !path.isEmpty else { return }
    try budget.take(text.count)
    path[path.count - 1].cost += text.count
    path[path.count - 1].element.text += text
  }

  private mutating func end() throws(ImportFailure) {
    guard var frame = path.popLast() else { return }
    if frame.isProtected { try decrypt(&frame.element) }
    guard let parent = path.last else {
      hasRoot = frame.element.name == "KeePassFile"
      return
    }
    switch (frame.element.name, parent.element.name) {
    case ("Group", _) where frame.group != nil: try endGroup(frame)
    case ("Entry", _) where parent.group != nil:
      let entry = try KDBXEntry(frame.element, group: parent.group)
      try budget.take(entry.cost)
      document.entries.append(entry)
    case ("Binary", "Binaries"): try addBinary(frame.element)
    case ("Icon", "CustomIcons"): try addIcon(frame.element)
    case ("Meta", "KeePassFile"): try endMeta(frame)
    // The identifications of what was deleted once.
    case ("DeletedObject", "DeletedObjects"): break
    case ("Root", "KeePassFile"): break
    default:
      path[path.count - 1].element.children.append(frame.element)
      path[path.count - 1].cost += frame.cost
      return
    }
    budget.release(frame.cost)
  }

  private func decrypt(_ element: inout XMLElement) throws(ImportFailure) {
    guard let bytes = [UInt8](base64: element.string) else {
      throw ImportFailure(.damaged, "a protected value of the database is not base64")
    }
    element.text = try protection.decrypt(bytes)
  }
}

// The elements that contain others than entries.
extension KDBXTree {
  private mutating func endGroup(_ frame: Frame) throws(ImportFailure) {
    guard let number = frame.group else { return }
    let settings = KDBXSettings.ofGroup(frame.element)
    let name = frame.element.string("Name")
    let notes = frame.element.child("Notes")?.text ?? []
    try budget.take(settings.cost + name.utf8.count + notes.count)
    document.groups[number].id = KDBXEntry.id(frame.element.string("UUID"))
    document.groups[number].name = name
    document.groups[number].notes = notes
    document.groups[number].settings = settings
  }

  private mutating func endMeta(_ frame: Frame) throws(ImportFailure) {
    let meta = frame.element
    document.about.name = meta.string("DatabaseName")
    document.about.description = meta.string("DatabaseDescription")
    document.about.recycleBin = KDBXEntry.id(meta.string("RecycleBinUUID"))
    if let hash = meta.child("HeaderHash"), !hash.text.isEmpty {
      document.about.headerHash = [UInt8](base64: hash.string) ?? []
    }
    for name in ["DefaultUserName", "Color"] {
      guard let value = meta.child(name)?.text, !value.isEmpty else { continue }
      try budget.take(value.count + Self.elementCost)
      document.about.settings.append(KDBXSetting(name: name, value: value))
    }
    try budget.take(document.about.name.utf8.count + document.about.description.utf8.count)
  }

  /// Adds an icon that a person chose for some entries, by its identification.
  private mutating func addIcon(_ icon: XMLElement) throws(ImportFailure) {
    let id = KDBXEntry.id(icon.string("UUID"))
    guard !id.isEmpty else { return }
    try budget.take(Self.elementCost)
    document.about.settings.append(KDBXSetting(name: "CustomIcons/Icon", value: Array(id.utf8)))
  }

  /// Adds an attachment of KDBX 3.1.
  private mutating func addBinary(_ element: XMLElement) throws(ImportFailure) {
    guard let number = element.attributes.first(where: { $0.name == "ID" })?.value else { return }
    let binary = try KDBXBinary(element)
    try budget.take(binary.cost + Self.elementCost)
    document.binaries[number] = binary
  }
}
