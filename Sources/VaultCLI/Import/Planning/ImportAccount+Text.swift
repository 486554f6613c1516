internal import VaultModel
internal import VaultWire

// The account in words and as JSON. It contains no values.
extension ImportAccount {
  /// The most names in one line of a summary.
  private static let shown = 3

  /// The refused fields, the same ones of many entries together.
  private struct Refusal: Hashable {
    let field: String
    let reason: String
  }

  /// The account for a person: the number of fields with each way, and then each refusal.
  var lines: [String] {
    let totals = totals
    var lines = ["\(Counted.text(totals.entries, "entry")) with \(Counted.text(totals.fields, "field"))"]
    for (group, count) in groups { lines.append("  \(count) \(group.text)") }
    return lines + valueless + refusals
  }

  /// The entries without a value of their own, in one line.
  private var valueless: [String] {
    let entries = parts.filter(\.isValueless).map(\.name)
    guard !entries.isEmpty else { return [] }
    let (have, notes) = entries.count == 1 ? ("has", "a note") : ("have", "notes")
    return ["\(names(entries)) \(have) no password or other value: \(notes) of the other fields"]
  }

  private func names(_ entries: [String]) -> String {
    let shown = entries.prefix(Self.shown).map { Printable.quoted($0) }.joined(separator: ", ")
    return entries.count > Self.shown ? "\(shown) and \(entries.count - Self.shown) more" : shown
  }

  /// The refused fields, one line for the same field and reason.
  private var refusals: [String] {
    var order: [Refusal] = []
    var owners: [Refusal: [String]] = [:]
    var counts: [Refusal: Int] = [:]
    for part in parts {
      for line in part.lines {
        guard case .refused(let reason) = line.outcome else { continue }
        let refusal = Refusal(field: line.field.name, reason: reason)
        if owners[refusal] == nil { order.append(refusal) }
        if owners[refusal]?.last != part.name { owners[refusal, default: []].append(part.name) }
        counts[refusal, default: 0] += 1
      }
    }
    return order.map { refusal in
      let entries = owners[refusal] ?? []
      let count = counts[refusal] ?? 0
      let times = count > entries.count ? "\(count) times " : ""
      return "refused: \(times)\(Printable.quoted(refusal.field)) of \(names(entries)): "
        + Printable.text(refusal.reason)
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
        switch line.outcome {
        case .attribute(let key): object.add("attribute", key)
        case .refused(let reason): object.add("reason", reason)
        case .leftOut(let reason): object.add("reason", reason.rawValue)
        case .name, .value, .beside, .version, .expiry, .known, .clash: break
        }
      }
    }
  }
}
