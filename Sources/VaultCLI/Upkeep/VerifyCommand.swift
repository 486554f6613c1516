internal import ArgumentParser
internal import VaultClient
internal import VaultWire

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check every record of the store, and name what is damaged, missing, replayed or foreign.",
    discussion: """
      The check changes nothing and delays nobody. While the vault is locked, it goes as far as the keys in memory \
      allow, and the command says what it could not check. The exit code is 0 when everything was checked and nothing \
      is wrong, 65 when something is wrong, and 75 when nothing is wrong but not everything could be checked.
      """)

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let progress = Progress()
    defer { progress.clear() }
    var findings: [Wire.Finding] = []
    let result = try session.call { vault in
      findings = []
      return try vault.verify { reply in
        if let done = reply.progress { progress.show(Integrity.bar("checking", done, "records")) }
        findings += reply.findings
      }
    }
    progress.clear()
    let report = VerifyReport(findings: findings, result: result)
    if globals.json { try Output.json { report.add(to: &$0) } } else { try Output.text(report.text) }
    let status = try session.call { vault in try vault.status() }
    if let warning = Integrity.copyWarning(status) { Output.note(warning) }
    if let failure = report.failure { throw failure }
  }
}
