internal import VaultModel
internal import VaultWire

// The account in words and as JSON. It contains no values.
extension ImportAccount {
  /// The most names in one line of a summary.
  private static let shown = 3

  /// Something about fields that a person must know, the same of many entries together.
  private struct Remark: Hashable {
    let field: String
    let text: String
  }

  /// The account for a person: the number of fields with each way, and then each refusal.
  var lines: [String] {
    let totals = totals
    var lines = ["\(Counted.text(totals.entries, "entry")) with \(Counted.text(totals.fields, "field"))"]
    for (group, count) in groups { lines.append("  \(count) \(group.text)") }
    return lines + valueless + nothing + refusals + settings + faults
  }

  /// The entries without a value of their own, in one line.
  private var valueless: [String] {
    let entries = parts.filter(\.isValueless).map(\.name)
    guard !entries.isEmpty else { return [] }
    let (have, notes) = entries.count == 1 ? ("has", "a note") : ("have", "notes")
    return ["\(names(entries)) \(have) no password or other value: \(notes) of the other fields"]
  }

  /// The entries that have nothing to store, in one line.
  private var nothing: [String] {
    let entries = parts.filter { $0.lines.contains(where: \.isOfNothing) }.map(\.name)
    return entries.isEmpty ? [] : ["refused: \(names(entries)): \(EntryMapping.noValue)"]
  }

  private func names(_ entries: [String]) -> String {
    let shown = entries.prefix(Self.shown).map { Printable.quoted($0) }.joined(separator: ", ")
    return entries.count > Self.shown ? "\(shown) and \(entries.count - Self.shown) more" : shown
  }

  /// The refused fields.
  private var refusals: [String] {
    remarks { line in
      guard case .refused(let reason) = line.outcome, !line.isOfNothing else { return nil }
      return reason
    }.map { remark in
      "refused: \(remark.fields): \(Printable.text(remark.text))"
    }
  }

  /// The settings and the remarks on values, which are none of the user's values.
  private var settings: [String] {
    remarks { line in
      guard case .setting(let reason) = line.outcome else { return nil }
      return reason
    }.map { remark in
      "not imported: \(remark.fields): \(Printable.text(remark.text))"
    }
  }

  /// The fields that were stored in spite of a fault.
  private var faults: [String] { remarks(\.fault).map { "\($0.fields): \($0.text)" } }

  /// The fields for which `text` gives a remark, once for the same field and text.
  private func remarks(_ text: (Line) -> String?) -> [(fields: String, text: String)] {
    var order: [Remark] = []
    var owners: [Remark: [String]] = [:]
    var counts: [Remark: Int] = [:]
    for part in parts {
      for line in part.lines {
        guard let text = text(line) else { continue }
        let remark = Remark(field: line.field.name, text: text)
        if owners[remark] == nil { order.append(remark) }
        if owners[remark]?.last != part.name { owners[remark, default: []].append(part.name) }
        counts[remark, default: 0] += 1
      }
    }
    return order.map { remark in
      let entries = owners[remark] ?? []
      let count = counts[remark] ?? 0
      let times = count > entries.count ? "\(count) times " : ""
      return ("\(times)\(Printable.quoted(remark.field)) of \(names(entries))", remark.text)
    }
  }

  /// The whole account: a line for each field of each entry, and the sums.
  var report: String {
    var text = ""
    for part in parts {
      let kind = part.entry.kind.rawValue + (part.isValueless ? " without a value" : "")
      text += "\(Printable.whole(part.name)) (\(kind))\n"
      for line in part.lines {
        text += "  \(Printable.whole(line.field.name)), \(Counted.size(line.field.size)): \(line.text)\n"
      }
    }
    return text + "\n" + lines.map { $0 + "\n" }.joined()
  }

  func write(_ object: inout JSONBuilder) {
    let totals = totals
    object.add("entries", totals.entries)
    object.add("fields", totals.fields)
    object.add("sums", object: { sums in for (group, count) in groups { sums.add(group.rawValue, count) } })
    object.add("account", parts) { object, part in
      object.add("name", part.name)
      object.add("kind", part.entry.kind.rawValue)
      if part.isValueless { object.add("without_value", true) }
      object.add("fields", part.lines) { object, line in
        object.add("field", line.field.name)
        object.add("role", line.field.role.rawValue)
        object.add("size", line.field.size)
        object.add("outcome", Group(line.outcome).rawValue)
        object.add("item", line.item)
        object.add("fault", line.fault)
        switch line.outcome {
        case .attribute(let key): object.add("attribute", key)
        case .setting(let reason), .refused(let reason): object.add("reason", reason)
        case .leftOut(let reason): object.add("reason", reason.rawValue)
        case .name, .value, .beside, .version, .expiry, .known, .clash, .history: break
        }
      }
    }
  }
}
