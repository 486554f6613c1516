internal import Glibc
internal import VaultModel
internal import VaultWire

/// The list of requests: printed as JSON lines, as tab-separated lines, or on a terminal as a table.
enum RequestReport {
  /// - Parameter held: returns what the subject of a denied request may do with the item all the same; nil if that is
  ///   not known.
  static func write(
    _ requests: [Wire.Request], json: Bool, held: (Wire.Request) -> OtherAccess? = { _ in nil }
  ) throws(Failure) {
    if json {
      for request in requests {
        try Output.json(request, "held", request.state == "denied" ? held(request)?.reply : nil)
      }
    } else if Output.isTerminal {
      var table = table(requests, held)
      if table.count > 0 { try Output.text(table.text()) }
    } else {
      for request in requests { try Output.line(line(request, held)) }
    }
  }

  static func table(_ requests: [Wire.Request], _ held: (Wire.Request) -> OtherAccess? = { _ in nil }) -> Table {
    var table = Table("NO", "STATE", "SUBJECT", "MAY", "ITEM", "ABOUT")
    for request in requests {
      table.add(
        .init(request.number.map { "\($0)" } ?? ""), .init(request.state, isRed: request.state == "denied"),
        .init(Printable.whole(request.subject)), .init(request.right ?? ""), .init(Printable.whole(request.name)),
        .init(facts(request).joined(separator: ", ")), below: reason(request) ?? anyway(request, held))
    }
    return table
  }

  /// All fields of a request, separated by tabs. A field's text must not look like another line or another field.
  private static func line(_ request: Wire.Request, _ held: (Wire.Request) -> OtherAccess?) -> String {
    let about = (facts(request) + [anyway(request, held), reason(request)].compactMap { $0 }).joined(separator: ", ")
    let fields = [
      request.number.map { "\($0)" }, request.state, Printable.field(request.subject), request.right,
      Printable.field(request.name), about,
    ]
    return fields.map { Printable.line($0 ?? "") }.joined(separator: "\t")
  }

  /// The caller's own words. A table shows them below the row, in full.
  private static func reason(_ request: Wire.Request) -> String? { request.reason.map(Printable.said) }

  /// The rights of the subject of a denied request on the item, in words; nil for none. A table shows them below the
  /// row, in full.
  private static func anyway(_ request: Wire.Request, _ held: (Wire.Request) -> OtherAccess?) -> String? {
    request.state == "denied" ? held(request)?.whole("it") : nil
  }

  private static func facts(_ request: Wire.Request) -> [String] {
    let output = STDOUT_FILENO
    var parts: [String] = []
    if request.missing == true { parts.append("no such item") }
    if let last = request.last { parts.append("asked \(request.times), last \(LocalTime.text(last, to: output))") }
    if request.state == "approved", let pid = request.pid { parts.append("process \(pid)") }
    if let uses = request.uses { parts.append(uses == 1 ? "once" : "\(uses) times") }
    if let until = request.until {
      parts.append("until \(LocalTime.text(until, to: output))")
    } else if request.state == "denied" {
      parts.append("until \(Hint.vault("requests forget"))")
    }
    return parts
  }
}

extension Wire.Request {
  fileprivate var times: String { (count ?? 1) == 1 ? "once" : "\(count ?? 1) times" }

  /// A description for the person who is asked. The caller's own words come last, on a line of their own.
  func sentences(_ output: Int32) -> [String] {
    var lines = [
      "\(Printable.whole(subject)) asks to \(Printable.text(right ?? "")) \(Printable.wholeQuoted(name))"
    ]
    let process = [user ?? uid.map { "uid \($0)" }, unit, executable].compactMap { $0 }.map { Printable.text($0) }
    let when = last.map { ", last \(LocalTime.text($0, to: output))" } ?? ""
    lines.append(
      "asked \(times)\(when), by process \(pid ?? 0)"
        + (process.isEmpty ? "" : " (\(process.joined(separator: ", ")))"))
    if let reason { lines.append("in its own words: \(Printable.said(reason))") }
    return lines
  }
}
