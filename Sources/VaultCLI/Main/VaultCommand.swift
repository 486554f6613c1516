internal import ArgumentParser

/// The command `vault` with all its subcommands.
struct VaultCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vault",
    abstract: "Keep passwords, keys and tokens in an encrypted vault.",
    discussion: """
      Secrets are read from a hidden prompt, from standard input or from a file, never from the command line. Without \
      a command, `vault` prints the state of the vault and the everyday commands. See vault(1).
      """,
    version: ClientVersion.line,
    groupedSubcommands: HelpGroup.allCases.map { CommandGroup(name: $0.rawValue, subcommands: $0.commands) })
}
