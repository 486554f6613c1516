import VaultTesting

extension Sandbox {
  /// Starts a shell on a terminal of its own, prepared with the completions of `vault`.
  func completing(in shell: String) throws -> Terminal {
    let script = try write(try must(["completions", shell]), to: "script")
    let options = ["bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"], "fish": ["--no-config", "-i"]]
    let prepare = ["zsh": "autoload -U compinit; compinit -u -D; "]
    let terminal = try Terminal(
      self, options[shell] ?? [], program: "/usr/bin/\(shell)", environment: ["HISTFILE": nil, "TERM": "dumb"])
    terminal.type("cd; \(prepare[shell] ?? "")source \(script)")
    return terminal
  }

  /// The lines that the shells' scripts get for a word behind others, without their help.
  func completions(_ words: String...) throws -> [String] {
    try must(["__complete", "--"] + words).split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
  }
}
