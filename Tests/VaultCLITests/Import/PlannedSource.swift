import VaultBytes
import VaultModel
import VaultWire

@testable import VaultCLI

/// Entries of a source for tests of the planning.
enum PlannedSource {
  /// A field: its name, role and value.
  typealias Given = (name: String, role: ImportedField.Role, value: String)

  static let now: Int64 = 1_800_000_000

  static func buffer(_ bytes: [UInt8]) -> SecretBuffer {
    var buffer = SecretBuffer()
    for byte in bytes { buffer.append(byte) }
    return buffer
  }

  static func field(
    _ name: String, _ role: ImportedField.Role, _ bytes: [UInt8], time: Int64? = nil, type: String? = nil,
    refusal: String? = nil, mark: String? = nil
  ) -> SourceField {
    SourceField(
      ImportedField(name, role, time: time, mediaType: type, size: bytes.count, refusal: refusal, mark: mark),
      buffer(refusal == nil ? bytes : []))
  }

  static func entry(
    _ kind: ImportedEntry.Kind = .login, id: String = "", folder: [String] = [], title: String, trashed: Bool = false,
    _ fields: [Given]
  ) -> SourceEntry {
    var all = [field("title", .title, Array(title.utf8))]
    if title.isEmpty { all = [] }
    if !folder.isEmpty { all.append(field("folder", .folder, Array(folder.joined(separator: "/").utf8))) }
    if !id.isEmpty { all.append(field("id", .identifier, Array(id.utf8))) }
    all += fields.map { field($0.name, $0.role, Array($0.value.utf8)) }
    return entry(kind, id: id, folder: folder, title: title, trashed: trashed, of: all)
  }

  static func entry(
    _ kind: ImportedEntry.Kind, id: String = "", folder: [String] = [], title: String, trashed: Bool = false,
    of fields: [SourceField]
  ) -> SourceEntry {
    let entry = SourceEntry(
      ImportedEntry(
        kind, id: id, folder: folder, title: title, isTrashed: trashed, fieldCount: fields.count))
    entry.fields = fields
    return entry
  }

  static func map(_ entries: [SourceEntry], into: [String] = []) -> [MappedEntry] {
    ImportMapping.map(entries, source: "csv:file", into: into, now: now)
  }

  static func map(_ entry: SourceEntry) -> MappedEntry { map([entry])[0] }

  static func text(_ field: SourceField) -> String { field.value.text() ?? "" }
}

/// A vault that holds what plans have stored, and what others have put there.
struct PlannedVault {
  /// The user whose import is planned.
  static let importer = "user:1000"

  private(set) var items: [Wire.Item] = []
  private var values: [String: SourceField] = [:]

  mutating func store(_ plan: ImportPlan, first count: Int = .max, run: String = "run") {
    for step in plan.steps.prefix(count) {
      put(
        step.name.text, step.item.kind, step.attributes(run: run), step.item.value,
        version: (step.present?.version ?? 0) + step.item.versionCount, expires: step.item.expires)
    }
  }

  mutating func put(
    _ name: String, _ kind: ItemKind = .password, _ attributes: [String: String] = [:], _ value: SourceField,
    version: Int = 1, expires: Int64? = nil, creator: String? = importer, writer: String? = importer
  ) {
    items.removeAll { $0.name == name }
    values[name] = value
    items.append(
      Wire.Item(
        name: name, kind: kind.rawValue, attributes: attributes, accessible: "when-unlocked", require: "none",
        reuse: 60, version: version, created: 0, modified: 0, expires: expires, size: value.value.count,
        creator: creator, writer: writer))
  }

  /// Puts an item of the importer with these facts.
  mutating func put(_ item: Wire.Item, _ value: SourceField) {
    var item = item
    (item.creator, item.writer) = (Self.importer, Self.importer)
    values[item.name] = value
    items.append(item)
  }

  /// - Parameters:
  ///   - isIdentified: whether the identifications of the entries are like no others.
  ///   - compared: takes the name of each item whose value is compared.
  func plan(
    _ entries: [MappedEntry], _ terms: ImportTerms = ImportTerms(), isIdentified: Bool = false,
    compared: (String) -> Void = { _ in }
  ) -> ImportPlan {
    let present = present(entries, isIdentified: isIdentified)
    return ImportPlan(entries, present, terms, now: PlannedSource.now) { field, item in
      compared(item.name)
      return values[item.name].map { field.isSame(as: $0.value, of: item) } ?? false
    }
  }

  func present(_ entries: [MappedEntry], isIdentified: Bool = false) -> PresentItems {
    var present = PresentItems(for: entries, source: "csv:file", isIdentified: isIdentified) { item in
      [item.creator, item.writer].map { $0 ?? "nobody" }.first { $0 != Self.importer }
    }
    for item in items { present.add(item) }
    return present
  }
}
