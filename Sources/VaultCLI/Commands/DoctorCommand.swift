internal import ArgumentParser

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check the installation, the daemon and the files, and say what to fix.",
    discussion: "Changes nothing. The exit code is 0 unless a check failed.")

  @OptionGroup var globals: Globals

  func run() throws {
    let findings = Doctor(globals).examine()
    for finding in findings {
      if globals.json { try Output.json { finding.write(to: &$0) } } else { try Output.line(finding.line) }
    }
    let failed = findings.filter { $0.level == .fail }.count
    if failed > 0 {
      throw Failure(.configuration, "\(failed) of \(findings.count) checks failed; each line says what to do")
    }
  }
}
