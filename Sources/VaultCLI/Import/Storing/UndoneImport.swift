internal import VaultModel
internal import VaultWire

/// The items of an import that is to be taken back, and what becomes of each.
struct UndoneImport {
  let run: String
  /// The sources of the items, in the order of their bytes, as ``ImportKey/source`` tells them: usually one.
  let sources: [String]
  private(set) var made: [String] = []
  private(set) var replaced: [Replaced] = []
  private(set) var kept: [Kept] = []

  /// An item of the import that stays as it is.
  struct Kept {
    let item: Wire.Item
    let reason: Reason
  }

  /// The reason why an item stays.
  enum Reason {
    /// This caller has given it another value.
    case written(by: String)
    /// The importer has given it another value.
    case changed
    /// The vault no longer has the version that the import replaced.
    case lost

    var text: String {
      switch self {
      case .written(let writer): "\(Printable.text(writer)) has written it since"
      case .changed: "its value was changed since"
      case .lost: "its earlier value is no longer kept"
      }
    }
  }

  /// Finds the importer's newest import, which has the greatest identification; nil if there is none.
  ///
  /// - Parameter versions: the numbers of the versions that the vault keeps of an item.
  init?<E: Error>(
    last items: [Wire.Item], _ importer: Importer, versions: (Wire.Item) throws(E) -> [Int]
  ) throws(E) {
    let runs = items.filter { importer.stranger(in: $0) == nil }.compactMap(\.importRun)
    guard let newest = runs.max(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) else { return nil }
    let own = items.filter { importer.hasMade($0) && $0.importRun?.utf8.elementsEqual(newest.utf8) == true }
    run = newest
    sources = Set(own.compactMap { $0.attributes[ImportKey.source] }).sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
    for item in own {
      let replaced = Replaced(item)
      if let writer = importer.stranger(in: item) {
        kept.append(Kept(item: item, reason: .written(by: writer)))
      } else if let replaced, try !versions(item).contains(replaced.version) {
        kept.append(Kept(item: item, reason: .lost))
      } else if item.isChangedSinceImport {
        kept.append(Kept(item: item, reason: .changed))
      } else if let replaced {
        self.replaced.append(replaced)
      } else {
        made.append(item.name)
      }
    }
  }

  /// The number of items to take back.
  var count: Int { made.count + replaced.count }

  /// The importer's own items that stay, and that belong to the import no longer once it is taken back.
  var left: [Wire.Item] {
    kept.compactMap { kept in
      switch kept.reason {
      case .written: nil
      case .changed, .lost: kept.item
      }
    }
  }

  /// The import by its time and its source.
  var heading: String {
    let from = sources.prefix(3).map { Printable.quoted($0) }.joined(separator: ", ")
    let rest = sources.count > 3 ? " and \(sources.count - 3) more" : ""
    return "the import of \(Printable.text(run))" + (from.isEmpty ? "" : " from \(from)\(rest)")
  }

  /// The number of items that stay, in words.
  var keptText: String { kept.count == 1 ? "1 item stays as it is" : "\(kept.count) items stay as they are" }

  /// The failure of an undo that takes nothing back; nil if there is something to take back.
  var failure: Failure? {
    guard count == 0 else { return nil }
    return Failure(
      .exists, "nothing of \(heading) can be taken back: \(keptText)",
      "\(Hint.vault("set NAME --update --keep-value --attr import=")) makes an item one of no import, so that the "
        + "import before is taken back")
  }

  /// Says what is done, by the verbs for the items that go to the trash and for those that get their values back.
  func text(_ move: String, _ restore: String) -> String {
    var parts: [String] = []
    if !made.isEmpty { parts.append("\(move) \(Counted.text(made.count, "item")) to the trash") }
    if !replaced.isEmpty {
      let values = replaced.count == 1 ? "value" : "values"
      parts.append("\(restore) the earlier \(values) of \(Counted.text(replaced.count, "item"))")
    }
    return parts.joined(separator: " and ")
  }

  /// The items, with what becomes of each, in the order of their names.
  var lines: [String] {
    Self.lines(made.map { ($0, "to the trash") } + replaced.map { ($0.item.name, $0.text) } + stays)
  }

  /// The items that stay, with the reasons.
  var keptLines: [String] { Self.lines(stays) }

  private var stays: [(String, String)] { kept.map { ($0.item.name, "stays, because \($0.reason.text)") } }

  private static func lines(_ all: [(String, String)]) -> [String] {
    all.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }.map { "\(Printable.whole($0)): \($1)" }
  }

  /// An item that was there before.
  struct Replaced {
    let item: Wire.Item
    /// The number of the version that was replaced.
    let version: Int
    /// The import from which that version came, or, if it was changed after that, the one before; nil for none.
    private let run: String?
    /// True if that version was a change after its import.
    private let isChange: Bool
    /// The version that import had replaced itself, and so on, in the form of ``ImportKey/replaced``.
    private let earlier: String?
    /// The expiry before, in Unix seconds, and 0 for none; nil if the import did not note it.
    let expires: Int64?
    /// The kind before, if the import has changed it.
    let kind: ItemKind?

    /// Nil for an item that was not there before.
    fileprivate init?(_ item: Wire.Item) {
      let before = (item.attributes[ImportKey.replaced] ?? "").split(separator: " ", maxSplits: 2).map(String.init)
      guard let version = before.first.flatMap({ Int($0) }) else { return nil }
      (self.item, self.version) = (item, version)
      earlier = before.count > 2 ? before[2] : nil
      let own = before.count > 1 ? before[1] : nil
      isChange = own?.hasPrefix(ImportKey.changed) == true
      run = isChange ? own.map { String($0.dropFirst(ImportKey.changed.count)) } : own
      let expiry = item.attributes[ImportKey.replacedExpiry]
      expires = expiry.flatMap { $0.utf8.elementsEqual(ImportKey.never.utf8) ? 0 : Timestamp.parse($0) }
      kind = item.attributes[ImportKey.replacedKind].flatMap { ItemKind(rawValue: $0) }
    }

    fileprivate var text: String {
      let value = "back to the value of version \(version)"
      guard let expires, expires != item.expires ?? 0 else { return value }
      return value + (expires == 0 ? ", without an expiry" : ", and to the expiry \(Timestamp.format(expires))")
    }

    /// The attributes while the version is restored: an undo that is interrupted must not take the version that it
    /// made itself for a change by somebody.
    var attributesMeanwhile: [String: String] {
      item.attributes.merging([ImportKey.version: String(item.version + 1)]) { _, new in new }
    }

    /// The attributes after the import is taken back.
    ///
    /// - Parameter version: the number of the version that has the earlier value now.
    func attributes(version: Int) -> [String: String] {
      var attributes = item.attributesWithoutImport
      guard let run else { return attributes }
      attributes[ImportKey.run] = run
      attributes[ImportKey.replaced] = earlier
      // The value of an earlier version counts as changed, as it did before.
      attributes[ImportKey.version] = String(isChange ? version - 1 : version)
      return attributes
    }
  }
}

extension Wire.Item {
  /// The identification of the import that stored the current value, complete or not; nil if none did.
  var importRun: String? {
    guard var run = attributes[ImportKey.run] else { return nil }
    if isUnfinishedImport { run = String(run.dropLast(PresentItems.unfinished.count)) }
    return ImportRun.isIdentification(run) ? run : nil
  }

  /// The attributes without those by which an import is taken back.
  var attributesWithoutImport: [String: String] { attributes.filter { !ImportMark.ofRun.contains($0.key) } }
}
