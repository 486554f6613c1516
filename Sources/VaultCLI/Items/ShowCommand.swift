internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct ShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show everything about an item except its value.")

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let item = try session.unlocking { vault in try vault.show(name) }
    if globals.json { return try Output.json(item) }
    try Output.lines(ShowCommand.lines(item))
  }

  static func lines(_ item: Wire.Item) -> [String] {
    var rows = [("name", Printable.listed(item.name)), ("kind", item.kind)]
    if let use = item.use {
      let type = item.keyType.map { ", \($0)" + (item.keyBits.map { " of \($0) bits" } ?? "") }
      rows.append(("use", use + (type ?? "")))
    }
    if item.neverRead == true { rows.append(("read", "never, by anybody: it is only used")) }
    if let code = item.code { rows += self.rows(code) }
    rows += item.attributes.sorted { $0.key < $1.key }.map { ("attr \($0.key)", $0.value) }
    if let keyring = item.keyring { rows += self.rows(keyring) }
    rows += [
      ("accessible", item.accessible),
      ("require", item.require == "none" ? item.require : "\(item.require), for \(Seconds.format(Int64(item.reuse)))"),
      ("version", String(item.version)),
      ("size", Counted.text(item.size, "byte")), ("created", LocalTime.text(item.created)),
      ("modified", LocalTime.text(item.modified)), ("expires", item.expires.map { LocalTime.text($0) } ?? "never"),
    ]
    if let creator = item.creator { rows.append(("creator", creator)) }
    if let writer = item.writer { rows.append(("writer", writer)) }
    return rows.map { "\(Printable.text($0.0)): \(Printable.text($0.1))" }
  }

  /// The facts that the clients of a keyring keep with the item. Their keys are any text, so they are quoted.
  private static func rows(_ keyring: Wire.Keyring) -> [(String, String)] {
    let times = [("created", keyring.created), ("modified", keyring.modified)].compactMap { name, time in
      time.map { ("keyring \(name)", LocalTime.text($0)) }
    }
    return [
      ("keyring id", keyring.id), ("keyring label", keyring.label), ("keyring type", keyring.contentType),
      ("keyring order", keyring.order),
    ] + keyring.attributes.map { ("keyring attr \(Printable.wholeQuoted($0.key))", $0.value) } + times
  }

  /// The parameters of the item's one-time codes.
  private static func rows(_ code: Wire.CodeTerms) -> [(String, String)] {
    var rows: [(String, String)] = []
    if let issuer = code.issuer { rows.append(("issuer", issuer)) }
    if let account = code.account { rows.append(("account", account)) }
    let characters = code.steam == true ? "\(code.digits), letters and digits as Steam's" : String(code.digits)
    rows.append(("digits", characters))
    rows.append(("algorithm", code.algorithm))
    rows.append(("period", code.period.map { "\($0) s" } ?? "none, because a counter sets the code"))
    if let counter = code.counter { rows.append(("counter", "\(counter), of the next code")) }
    return rows
  }
}

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "List the versions of an item that are kept, newest first.")

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let versions = try session.unlocking { vault in try vault.history(name) }
    var table = Table("VERSION", "CREATED", "SIZE", "WRITER", "")
    for version in versions {
      if globals.json {
        try Output.json(version)
      } else {
        table.add(
          .init(String(version.version)), .init(LocalTime.text(version.created)),
          .init(Counted.text(version.size, "byte")),
          .init(version.writer ?? ""), .init(version.current ? "current" : ""))
      }
    }
    if !globals.json { try Output.text(table.text(withHeading: Output.isTerminal)) }
  }
}
