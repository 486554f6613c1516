internal import ArgumentParser

/// A command that asks for secrets. An extra word on its command line may be a secret, so messages do not repeat it.
protocol SecretTaking: ParsableCommand {
  /// The other ways to give the secret, in words.
  static var otherWay: String { get }
}

extension SecretTaking {
  static var otherWay: String { "type it on the terminal when asked, or give --password-stdin" }
}

/// Arguments that are refused because they would put a secret where others can see it.
enum Refused {
  /// Throws if there is an extra word on the command line of a command that takes a secret.
  static func secretArguments<Command: SecretTaking>(_ arguments: [String], of _: Command) throws {
    if !arguments.isEmpty { throw ValidationError(text(Command.otherWay)) }
  }

  static func text(_ otherWay: String) -> String {
    """
    a secret on the command line can be read by every user of this machine and stays in the shell's history, so \
    vault accepts none there; \(otherWay)
    """
  }
}
