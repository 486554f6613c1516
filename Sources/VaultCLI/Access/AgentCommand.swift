internal import ArgumentParser
internal import Glibc

struct AgentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent",
    abstract: "Ask a person in this session whenever the vault needs one.",
    discussion: """
      Runs until it is interrupted. On a terminal the agent asks there first; otherwise it asks by notifications and \
      pinentry, as far as they are available. See vault-agent(8).
      """)

  @Option(help: ArgumentHelp("Use these ways to ask, in this order, separated by commas.", valueName: "faces"))
  var faces: String?

  @Option(help: ArgumentHelp("Use this pinentry.", valueName: "path"), completion: .file())
  var pinentry: String?

  @Option(help: ArgumentHelp("Run this program for the face `command`.", valueName: "path"), completion: .file())
  var command: String?

  @Option(
    help: ArgumentHelp("Use the daemon at this socket instead of the user's own.", valueName: "path"),
    completion: .file())
  var socket: String?

  @Flag(help: "Attend only the machine's vault.")
  var system = false

  func run() throws {
    let name = "vault-agent"
    let path = try Helper.path(of: name)
    let given = [("--faces", faces), ("--pinentry", pinentry), ("--command", command), ("--socket", socket)]
    let options = given.flatMap { option, value in value.map { [option, $0] } ?? [] }
    let words = [path] + options + (system ? ["--system"] : [])
    // Each string is copied, and lives until this process becomes another program; the array ends with a null pointer.
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    unsafe execv(path, &arguments)
    throw Failure(.system, "cannot start \(name): \(Output.describe(errno))")
  }
}
