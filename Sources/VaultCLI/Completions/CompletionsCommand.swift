internal import ArgumentParser

struct CompletionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completions",
    abstract: "Print the completion script for a shell.",
    discussion: "For example: vault completions bash > ~/.local/share/bash-completion/completions/vault")

  @Argument(help: ArgumentHelp("bash, zsh or fish.", valueName: "shell"))
  var shell: CompletionScript.Shell

  func run() throws { try Output.line(CompletionScript.text(for: shell)) }
}
