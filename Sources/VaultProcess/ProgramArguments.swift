/// The command line of the running program.
public enum ProgramArguments {
  /// Runs `body` with the arguments after the program's name, and returns its exit code.
  ///
  /// The program's name is always there: a program without a readable command line has ended before this call (CStart).
  public static func run(_ body: ([String]) -> Int32) -> Int32 {
    body(Array(CommandLine.arguments.dropFirst()))
  }
}
