internal import ArgumentParser
internal import VaultBytes
internal import VaultModel
internal import VaultWire

struct EnvCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "env",
    abstract: "Print items as variables for a shell to evaluate.",
    discussion: """
      For example: `vars=$(vault env -e OWM_APPID=owm/appid) || exit` and then `eval "$vars"`. In one line, as in \
      `eval "$(vault env ...)"`, the shell would continue without the variables if the command fails. `vault run` \
      gives the variables to one program only, which is better if that is enough.
      """)

  @OptionGroup var variables: VariableOptions

  @Option(
    help: ArgumentHelp(
      "Print the lines for this shell: "
        + "\(EnvironmentScript.Shell.allCases.map(\.rawValue).joined(separator: " or ")).", valueName: "shell"))
  var shell: EnvironmentScript.Shell = .sh

  @OptionGroup var fetch: FetchOptions

  @OptionGroup var globals: Globals

  func run() throws {
    let variables = try Variables(self.variables.envFile, self.variables.assignments)
    let session = try Session(globals)
    let fetched = try fetch.fetch.items(
      variables.items, for: "vault env", session, place: { variables.place(of: $0) })
    try variables.check(fetched)
    if globals.json { return try Output.json(EnvironmentScript.json(variables, fetched)) }
    let text = EnvironmentScript.text(variables, fetched, for: shell)
    try text.withBytes { bytes throws(Failure) in
      if Output.isTerminal, !bytes.isText {
        throw Failure(
          .usage, "a value is not text, and a terminal acts on such bytes",
          "have the shell evaluate it, or send it to a file")
      }
      try Output.write(bytes)
    }
  }
}
