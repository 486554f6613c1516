internal import ArgumentParser

/// Options that are refused because each would put a secret where others see it.
enum Refused {
  /// Anything left over on the command line of a command that takes a secret: it may be one, so it is not repeated.
  static func secretArguments(
    _ arguments: [String], _ instead: String = "it is asked for on the terminal, or give --password-stdin"
  )
    throws
  {
    guard !arguments.isEmpty else { return }
    throw ValidationError(
      """
      a secret on the command line can be read by every user of this machine and stays in the shell's history, so \
      none is taken there; \(instead)
      """)
  }
}
