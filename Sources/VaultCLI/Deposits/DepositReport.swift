internal import Glibc
internal import VaultModel
internal import VaultWire

/// The list of deposits: printed as JSON lines, as tab-separated lines, or on a terminal as a table.
enum DepositReport {
  /// The advice on a deposit that was kept aside.
  static var advice: String { "\(Hint.vault("deposits")) shows it" }

  static func write(_ deposits: [Wire.DepositInfo], json: Bool) throws(Failure) {
    if json {
      for deposit in deposits { try Output.json(deposit) }
    } else if Output.isTerminal {
      var table = table(deposits)
      if table.count > 0 { try Output.text(table.text()) }
    } else {
      for deposit in deposits { try Output.line(line(deposit)) }
    }
  }

  /// Returns the table for a terminal. On 80 columns, there is room only for the day of the deposit. The reason why a
  /// deposit was kept aside is on a line below its row.
  static func table(_ deposits: [Wire.DepositInfo]) -> Table {
    var table = Table("NO", "NAME", "KIND", "SIZE", "SENT", "BY", "STATE")
    for deposit in deposits {
      table.add(
        .init("\(deposit.number)"), .init(Printable.whole(deposit.name ?? "")), .init(deposit.kind ?? ""),
        .init(deposit.size.map { Counted.size($0) } ?? ""), .init(deposit.time.map { LocalTime.day($0) } ?? ""),
        .init(Printable.whole(deposit.depositor ?? "")),
        .init(deposit.waiting ? "waiting" : "kept", isRed: !deposit.waiting),
        below: deposit.reason)
    }
    return table
  }

  /// All fields of a deposit, separated by tabs. A field's text must not look like another line or another field.
  private static func line(_ deposit: Wire.DepositInfo) -> String {
    let fields = [
      "\(deposit.number)", deposit.waiting ? "waiting" : "kept", deposit.name.map(Printable.field),
      deposit.kind,
      deposit.size.map { "\($0)" }, deposit.time.map { LocalTime.text($0) },
      deposit.depositor.map(Printable.field), deposit.reason,
    ]
    return fields.map { Printable.line($0 ?? "") }.joined(separator: "\t")
  }
}

extension Wire.DepositInfo {
  /// True for a deposit that was kept aside because nobody can read it, so that it can only be dropped.
  var isUnreadable: Bool { DepositObstacle.allCases.contains { $0.isFinal && $0.text == reason } }

  /// A description for the person who decides about the deposit.
  var sentence: String {
    let about = [kind, accessible, size.map { Counted.size($0) }, sealed == true ? "sealed elsewhere" : nil]
      .compactMap { $0 }.map { Printable.text($0) }.joined(separator: ", ")
    let item = name.map { " for \(Printable.wholeQuoted($0))" } ?? ""
    let left = [
      time.map { "deposited \(LocalTime.text($0, to: STDERR_FILENO))" }, depositor.map { "by \(Printable.whole($0))" },
    ].compactMap { $0 }.joined(separator: " ")
    return "\(number)\(item)" + (about.isEmpty ? "" : " (\(about))") + (left.isEmpty ? "" : ", \(left)")
      + (reason.map { ": \(Printable.text($0))" } ?? "")
  }
}
