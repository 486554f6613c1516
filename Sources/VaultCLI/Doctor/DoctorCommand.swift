internal import ArgumentParser

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check the installation, the daemon and the files, and say what to fix.",
    discussion: "Changes nothing. The exit code is 0 unless a check failed.")

  @OptionGroup var globals: Globals

  func run() throws {
    let diagnoses = Doctor(globals).examine()
    if globals.json {
      for diagnosis in diagnoses { try Output.json { diagnosis.add(to: &$0) } }
    } else {
      try Output.lines(diagnoses.map(\.line))
    }
    let failed = diagnoses.filter { $0.level == .fail }.count
    if failed > 0 {
      throw Failure(.configuration, "\(failed) of \(diagnoses.count) checks failed", "each line says what to do")
    }
  }
}
