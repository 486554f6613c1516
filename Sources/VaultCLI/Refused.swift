internal import ArgumentParser

/// A command that asks for secrets: what is left over on its command line may be one, so it is not repeated.
protocol SecretTaking: ParsableCommand {
  /// The ways in which it takes a secret.
  static var otherWay: String { get }
}

extension SecretTaking {
  static var otherWay: String { "it is asked for on the terminal, or give --password-stdin" }
}

/// Arguments that are refused because each would put a secret where others see it.
enum Refused {
  /// Anything left over on the command line of a command that takes a secret.
  static func secretArguments<Command: SecretTaking>(_ arguments: [String], of _: Command) throws {
    if !arguments.isEmpty { throw ValidationError(text(Command.otherWay)) }
  }

  static func text(_ otherWay: String) -> String {
    """
    a secret on the command line can be read by every user of this machine and stays in the shell's history, so \
    none is taken there; \(otherWay)
    """
  }
}
