internal import ArgumentParser
internal import Glibc

struct AgentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent",
    abstract: "Attend this session: be asked here what the vault wants a person for.",
    discussion: """
      Runs until it is interrupted. On a terminal it asks there first; otherwise by notifications and pinentry, as far \
      as they are there. See vault-agent(8).
      """)

  @Option(help: ArgumentHelp("The ways to ask, in their order, with commas between.", valueName: "faces"))
  var faces: String?

  @Option(help: ArgumentHelp("The pinentry to use.", valueName: "path"), completion: .file())
  var pinentry: String?

  @Option(help: ArgumentHelp("The program that the face `command` runs.", valueName: "path"), completion: .file())
  var command: String?

  @Option(help: ArgumentHelp("The daemon's socket, instead of the user's own.", valueName: "path"), completion: .file())
  var socket: String?

  @Flag(help: "Attend the machine's vault alone.")
  var system = false

  func run() throws {
    let name = "vault-agent"
    guard let path = Helper.path(of: name) else {
      throw Failure(.unavailable, "\(name) is not installed below libexec, nor beside vault", "install it")
    }
    let given = [("--faces", faces), ("--pinentry", pinentry), ("--command", command), ("--socket", socket)]
    let options = given.flatMap { option, value in value.map { [option, $0] } ?? [] }
    let words = [path] + options + (system ? ["--system"] : [])
    // Each string is copied, and lives until this process becomes another program; the array ends with a null pointer.
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    unsafe execv(path, &arguments)
    throw Failure(.system, "cannot start \(name): \(Output.describe(errno))")
  }
}
