internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct AuditRepairCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Set aside entries that an earlier version's rekey left unreadable.",
    discussion: """
      A rekey by an earlier version could leave entries sealed to the keys that it replaced. `vault verify` and the \
      unlock name them, and nothing is written to the store until they are set aside. The command asks for your \
      presence. The rows of these entries stay in the store, and an entry records their numbers and times. Nothing \
      else that is wrong with a log is repaired: if anything else is wrong, nothing is changed.
      """)

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let aside = try session.unlocking(for: "vault audit repair") { vault in try vault.repairAudit() }
    if globals.json {
      return try Output.json { $0.add("aside", aside) }
    }
    if aside.isEmpty { return try Output.line("nothing to repair") }
    for one in aside {
      let times = "\(LocalTime.text(one.since)) to \(LocalTime.text(one.until))"
      try Output.line("set aside: entries \(one.first) to \(one.last), \(times)")
    }
    Output.note("the store is being checked again; \(Hint.vault("verify")) shows the result")
  }
}
