internal import ArgumentParser

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a program with items in its environment.",
    discussion: """
      `vault run -e OWM_APPID=owm/appid -- dashboard` becomes the program, which gets the variables in addition to the \
      present ones. All items are fetched before the program starts; if one cannot be fetched, it does not start.
      """)

  @OptionGroup var variables: VariableOptions

  @Flag(help: "Stay, and pass on what the program prints, with <concealed> in place of the values.")
  var mask = false

  @OptionGroup var fetch: FetchOptions

  @OptionGroup var daemon: DaemonOptions

  @Argument(
    parsing: .postTerminator, help: ArgumentHelp("The program and its arguments, after --.", valueName: "command"),
    completion: .file())
  var command: [String] = []

  func validate() throws {
    if command.isEmpty { throw ValidationError("no program is named; write it after --") }
  }

  func run() throws {
    var request = RunRequest()
    request.assignments = variables.assignments
    request.files = variables.envFile
    request.command = command
    request.masks = mask
    request.fetch = fetch.fetch
    (request.socket, request.system) = (daemon.socket, daemon.system)
    try request.run()
  }
}
