internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct ClockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clock",
    abstract: "Repair the store after the clock ran ahead.",
    subcommands: [ClockRepairCommand.self])
}

struct ClockRepairCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Set the newest time that the store knows back to the clock's time.",
    discussion: """
      Set the clock first. Items, grants and tokens expire by the later of the clock and the newest time of any \
      change, so a clock that is turned back makes nothing valid again. A change that was made while the clock ran \
      ahead therefore makes items expire too early; this command corrects that.
      """)

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let reply = try session.unlocking(for: "vault clock repair") { vault in try vault.repairClock() }
    if globals.json {
      try Output.json { object in
        object.add("newest", reply.newest)
        object.add("clock", reply.clock)
      }
    } else if Keyboard.isAttended {
      let ahead = Seconds.from(reply.clock, to: reply.newest)
      Output.note(ahead > 0 ? "the store was \(Seconds.format(ahead)) ahead of the clock" : "the clock is not behind")
    }
  }
}
