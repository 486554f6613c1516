/// The command line of the running program.
public enum ProgramArguments {
  /// Runs `body` with what follows the program's name. The result is the exit code.
  ///
  /// There is one: a program that cannot read its own has ended before this (CStart).
  public static func run(_ body: ([String]) -> Int32) -> Int32 {
    body(Array(CommandLine.arguments.dropFirst()))
  }
}
