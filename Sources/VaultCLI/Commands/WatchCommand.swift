internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print what happens to the vault and its items, until interrupted.",
    discussion: "The first line is the present state. With --json each line is an object.")

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    try session.call { vault in
      try vault.monitor { event in
        if globals.json {
          try Output.json { event.write(to: &$0) }
        } else {
          try Output.line(WatchCommand.line(event))
        }
        return true
      }
    }
  }

  static func line(_ event: Vault.Event) -> String {
    let time = LocalTime.text(event.time)
    if event.event == "item" {
      let target = event.to.map { " to \(Printable.text($0))" } ?? ""
      return "\(time) \(Printable.text(event.change ?? "changed")) \(Printable.text(event.name ?? "an item"))\(target)"
    }
    if event.event == "request" {
      return "\(time) request \(event.number ?? 0) \(Printable.text(event.change ?? "changed"))"
    }
    let subject = event.event == "state" ? "" : "\(Printable.text(event.event)) "
    let cause = event.cause.map(Sentence.cause) ?? ""
    return "\(time) \(subject)\(Printable.text(event.state ?? ""))\(cause)"
  }
}
