internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The report of `vault verify`.
struct VerifyReport {
  let findings: [Wire.Finding]
  let result: Wire.Verification

  var isWhole: Bool { findings.isEmpty && result.unchecked.isEmpty }

  /// The names of the items with a finding, as far as they are known.
  private var harmed: [String] {
    var seen: Set<[UInt8]> = []
    return findings.compactMap(\.name).filter { seen.insert(Array($0.utf8)).inserted }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// One line per finding, then the totals.
  var text: String {
    var lines = findings.map { finding in
      let name = finding.name.map { " (\(Printable.whole($0)))" } ?? ""
      return "\(mark(finding.kind)): \(Printable.text(finding.text))\(name)"
    }
    if result.omitted > 0 { lines.append("and \(result.omitted) more") }
    if !findings.isEmpty { lines.append("") }
    lines.append("checked:   \(result.records) records")
    // Without the keys, no item can be checked, and the number of items is not a result.
    let isUnknown = result.unharmed == 0 && result.harmed == 0 && !result.unchecked.isEmpty
    lines.append("unharmed:  \(isUnknown ? "no item could be checked" : VerifyReport.items(result.unharmed))\(caveat)")
    if result.harmed > 0 { lines.append("harmed:    \(VerifyReport.items(result.harmed))") }
    if !result.unchecked.isEmpty {
      let reason = result.reason.map { ": \(Printable.text($0))" } ?? ""
      lines.append("unchecked: whether all records of class \(list(result.unchecked)) are the latest\(reason)")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A warning about the classes whose records, as a whole, are not the ones that were last written: any record in them
  /// may be older, even if it opens and fits the others.
  private var caveat: String {
    result.changed.isEmpty ? "" : "; any item of class \(list(result.changed)) may be an older copy of itself"
  }

  private func mark(_ kind: String) -> String { Style.red(Printable.text(kind)) }

  private func list(_ classes: [String]) -> String { classes.map(Printable.text).joined(separator: ", ") }

  private static func items(_ count: Int) -> String { Counted.text(count, "item") }

  /// The reason why the command does not end with 0; nil if all is well.
  var failure: Failure? {
    if !findings.isEmpty {
      // The daemon's number may be any.
      let (count, overflow) = findings.count.addingReportingOverflow(max(0, result.omitted))
      return Failure(
        .invalid,
        "\(overflow ? .max : count) \(count == 1 ? "thing is" : "things are") wrong with the store",
        "keep it as it is, "
          + "and restore a backup in its place, or what \(Hint.vault("salvage")) saves")
    }
    if !result.unchecked.isEmpty {
      return Failure(
        .retry, "nothing was found wrong, but not everything could be checked",
        "\(Hint.vault("unlock")), then verify again")
    }
    return nil
  }

  func add(to object: inout JSONBuilder) {
    object.add("ok", isWhole)
    for (key, number) in [
      ("records", result.records), ("unharmed", result.unharmed), ("harmed", result.harmed),
      ("omitted", result.omitted),
    ] {
      object.add(key, number)
    }
    for (key, texts) in [("harmed_names", harmed), ("unchecked", result.unchecked), ("changed", result.changed)] {
      object.add(key, texts)
    }
    object.add("reason", result.reason)
    object.add("findings", findings)
  }
}
