internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The receipts from the watchers of an item: printed as JSON lines, as tab-separated lines, or on a terminal as a
/// table.
struct ReceiptReport {
  /// A watcher: a service, or another program by its process.
  private struct Watcher: Hashable {
    let uid: Int?
    let unit: String?
    let pid: Int?

    init(_ entry: Wire.AuditEntry) {
      uid = entry.uid
      unit = entry.unit.flatMap { $0.hasSuffix(".service") ? $0 : nil }
      pid = unit == nil ? entry.pid : nil
    }
  }

  /// The last receipt from a watcher.
  private struct LastReceipt {
    let entry: Wire.AuditEntry
    let version: Int
    /// True if the version waits for a person.
    let isHeld: Bool
    /// The last version that the watcher has taken over.
    var taken: Int?

    var isTaken: Bool { entry.outcome == "ok" }
  }

  private let name: String
  private var receipts: [Watcher: LastReceipt] = [:]
  /// The version that is served now; nil if it is not known.
  var current: Int?
  /// The present names of items that had this name when watchers reported on them. Another item, or none, has this name
  /// now.
  private(set) var others: Set<ItemName> = []

  init(_ name: String) { self.name = name }

  var isEmpty: Bool { receipts.isEmpty }

  /// Adds an entry of the log about the item; entries must come in their order. An entry with an earlier name of the
  /// item counts. An entry of another item that had this name does not.
  mutating func add(_ entry: Wire.AuditEntry) {
    // A refused receipt does not count.
    guard entry.action == "receipt", entry.outcome == "ok" || entry.outcome == "failed",
      let (version, isHeld) = Self.version(entry.detail)
    else { return }
    if let other = entry.itemNow(otherThan: name) {
      others.insert(other)
      return
    }
    let watcher = Watcher(entry)
    // A version that is held after it was taken over is no longer in place.
    let taken = receipts[watcher]?.taken
    var receipt = LastReceipt(
      entry: entry, version: version, isHeld: isHeld, taken: isHeld && taken == version ? nil : taken)
    if receipt.isTaken { receipt.taken = version }
    receipts[watcher] = receipt
  }

  /// Returns the version that the daemon wrote before the watcher's own words, and whether that version is held.
  private static func version(_ detail: String?) -> (Int, isHeld: Bool)? {
    guard let detail, detail.hasPrefix("version ") else { return nil }
    let isHeld = detail.hasSuffix(", held")
    return Int(detail.dropFirst("version ".count).dropLast(isHeld ? ", held".count : 0)).map { ($0, isHeld) }
  }

  /// Writes the receipts, the latest first.
  func write(json: Bool) throws(Failure) {
    // An entry without a number is a count that is not in the log yet, so it is the latest.
    func place(_ number: Int) -> Int { number > 0 ? number : .max }
    let receipts = receipts.values.sorted { place($0.entry.number) > place($1.entry.number) }
    if json {
      for receipt in receipts { try writeJSON(receipt) }
    } else if Output.isTerminal {
      var table = Table("LAST", "WHO", "VERSION", "STATE")
      for receipt in receipts {
        table.add(
          .init(LocalTime.text(receipt.entry.time)), .init(AuditReport.who(receipt.entry)), .init("\(receipt.version)"),
          .init(state(of: receipt), isRed: !receipt.isTaken || receipt.entry.watches == false))
      }
      if table.count > 0 { try Output.text(table.text()) }
    } else {
      for receipt in receipts {
        let fields = [
          LocalTime.text(receipt.entry.time), AuditReport.who(receipt.entry), "\(receipt.version)", state(of: receipt),
        ]
        try Output.line(fields.map { Printable.line($0) }.joined(separator: "\t"))
      }
    }
  }

  private func isCurrent(_ receipt: LastReceipt) -> Bool? { current.map { $0 == receipt.taken } }

  /// Describes a watcher: whether it has the version that is served, its words about a failure, and whether it is gone.
  /// A watcher that is gone takes over no more versions.
  private func state(of receipt: LastReceipt) -> String {
    receipt.entry.watches == false ? "gone; \(lastState(of: receipt))" : lastState(of: receipt)
  }

  private func lastState(of receipt: LastReceipt) -> String {
    guard receipt.isTaken else {
      let said = receipt.entry.purpose.map { ": \(Printable.said($0))" } ?? ""
      return "\(receipt.isHeld ? "held" : "failed")\(said)\(receipt.taken.map { ", has version \($0)" } ?? "")"
    }
    switch isCurrent(receipt) {
    case true?: return receipt.entry.watches == false ? "had it" : "has it"
    case false?: return "behind: version \(current ?? 0) is served"
    case nil: return "has had it"
    }
  }

  private func writeJSON(_ receipt: LastReceipt) throws(Failure) {
    try Output.json { object in
      object.add("uid", receipt.entry.uid)
      object.add("user", receipt.entry.user)
      object.add("pid", receipt.entry.pid)
      object.add("unit", receipt.entry.unit)
      object.add("time", Int(receipt.entry.time))
      object.add("version", receipt.version)
      object.add("succeeded", receipt.isTaken)
      if receipt.isHeld { object.add("held", true) }
      object.add("detail", receipt.entry.purpose)
      object.add("taken", receipt.taken)
      object.add("current", isCurrent(receipt))
      object.add("watches", receipt.entry.watches)
    }
  }
}
