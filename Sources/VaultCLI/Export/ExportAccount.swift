internal import VaultModel
internal import VaultWire

/// The account of an export: the items that are left out, and what the file does not hold of the others. It contains no
/// values.
struct ExportAccount {
  /// The most names in one line.
  private static let shown = 3

  /// An item that is not in the file, and the reason.
  struct LeftOut {
    let name: String
    let reason: String
  }

  /// The number of items to export.
  var items = 0
  private(set) var leftOut: [LeftOut] = []
  private(set) var losses: [(name: String, loss: ExportLoss)] = []
  /// The number of grants for the items.
  var grants = 0

  mutating func leaveOut(_ name: String, _ reason: String) { leftOut.append(LeftOut(name: name, reason: reason)) }

  mutating func lose(_ loss: ExportLoss, of name: ItemName) { losses.append((name.text, loss)) }

  /// The account in words: a line for each reason, and for each thing that the file does not hold.
  var lines: [String] {
    var lines = Self.grouped(leftOut.map { ($0.reason, $0.name) }).map { reason, names in
      "left out: \(Self.list(names)): \(names.count > 1 ? Self.ofEach(reason) : reason)"
    }
    lines += Self.grouped(losses.map { ($0.loss.what, $0.name) }).map { what, names in
      "not in the file: \(what) of \(Self.list(names))"
    }
    if grants > 0 { lines.append("not in the file: \(Counted.text(grants, "grant")) for these items") }
    return lines
  }

  /// The whole account: a line for each item that is left out, and for each thing of an item that the file does not
  /// hold.
  var report: String {
    let lines =
      leftOut.map { "\(Printable.whole($0.name)): left out: \($0.reason)" }
      + losses.map { "\(Printable.whole($0.name)): not in the file: \($0.loss.what)" }
    return (lines + ["", "\(Counted.text(items, "item")) in the file"] + self.lines).map { $0 + "\n" }.joined()
  }

  func write(_ object: inout JSONBuilder) {
    object.add("items", items)
    object.add("left_out", leftOut) { object, item in
      object.add("name", item.name)
      object.add("reason", item.reason)
    }
    object.add("lost", losses) { object, loss in
      object.add("name", loss.name)
      object.add("what", loss.loss.what)
    }
    object.add("grants", grants)
  }

  /// The names by their reasons, both in the order in which they came.
  private static func grouped(_ pairs: [(key: String, name: String)]) -> [(String, [String])] {
    var order: [String] = []
    var names: [String: [String]] = [:]
    for (key, name) in pairs {
      if names[key] == nil { order.append(key) }
      names[key, default: []].append(name)
    }
    return order.map { ($0, names[$0] ?? []) }
  }

  /// The reason as one for several items.
  private static func ofEach(_ reason: String) -> String {
    reason.hasPrefix("it ") ? "each \(reason.dropFirst(3))" : reason
  }

  private static func list(_ names: [String]) -> String {
    let shown = names.prefix(Self.shown).map { Printable.wholeQuoted($0) }.joined(separator: ", ")
    return names.count > Self.shown ? "\(shown) and \(names.count - Self.shown) more" : shown
  }
}
