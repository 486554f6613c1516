internal import ArgumentParser
internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct RefuseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refuse",
    abstract: "Refuse a prompt of a program that uses the Secret Service.",
    discussion: """
      The program learns that a person does not want it to have its keys. A browser then deletes all cookies and \
      logins that it has encrypted, for good; a prompt that waits loses nothing. See vault-secret-service(7).
      """)

  @Argument(numberOf: .prompt) var number: Int

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    if !yes { try ask(session) }
    let prompt = try session.call { vault in try vault.refuse(number) }
    if globals.json {
      try Output.json(prompt)
    } else if Keyboard.isAttended {
      Output.note("\(prompt.program) was told that you refuse")
    }
  }

  private func ask(_ session: Session) throws(Failure) {
    let all = try session.call { vault in try vault.requestsAndPrompts().prompts }
    guard let prompt = all.first(where: { $0.number == number }) else {
      throw Failure(Fault.noSuchRequest(number: number))
    }
    let loss = Self.loss(prompt)
    let hush = Hush.onTerminal()
    defer { _ = hush }
    try Confirmation(
      consequence: "this would tell \(prompt.program) that you refuse; \(loss.short)",
      question: "Refuse it?",
      facts: [
        "\(prompt.program): \(prompt.wish), \(prompt.facts(STDERR_FILENO))", loss.full,
        "a prompt that waits loses nothing: it ends by itself when you unlock the vault",
      ]
    ).ask()
  }

  /// The loss to a program whose prompt is refused, in a short and a full form.
  private static func loss(_ prompt: Wire.KeyringPrompt) -> (short: String, full: String) {
    guard prompt.task != "retrieve" else {
      let full = "a program without its secret cannot read its own data, and may start over"
      return ("the program then cannot read its own data", full)
    }
    let full = "a browser that is refused deletes all cookies and logins that it has encrypted, for good"
    return ("a browser then deletes its cookies and logins", full)
  }
}
