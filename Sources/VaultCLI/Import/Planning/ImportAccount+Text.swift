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
    return lines + refusals
  }

  /// The refused fields, one line for the same field and reason.
  private var refusals: [String] {
    var order: [Refusal] = []
    var names: [Refusal: [String]] = [:]
    var counts: [Refusal: Int] = [:]
    for part in parts {
      for line in part.lines {
        guard case .refused(let reason) = line.outcome else { continue }
        let refusal = Refusal(field: line.field.name, reason: reason)
        if names[refusal] == nil { order.append(refusal) }
        if names[refusal]?.last != part.name { names[refusal, default: []].append(part.name) }
        counts[refusal, default: 0] += 1
      }
    }
    return order.map { refusal in
      let entries = names[refusal] ?? []
      let shown = entries.prefix(Self.shown).map { Printable.quoted($0) }.joined(separator: ", ")
      let rest = entries.count > Self.shown ? " and \(entries.count - Self.shown) more" : ""
      let count = counts[refusal] ?? 0
      let times = count > entries.count ? "\(count) times " : ""
      return "refused: \(times)\(Printable.quoted(refusal.field)) of \(shown)\(rest): "
        + Printable.text(refusal.reason)
    }
  }

  /// The whole account: a line for each field of each entry, and the sums.
  var report: String {
    var text = ""
    for part in parts {
      text += "\(Printable.whole(part.name)) (\(part.entry.kind.rawValue))\n"
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
