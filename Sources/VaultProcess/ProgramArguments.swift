/// The command line of the running program.
public enum ProgramArguments {
  /// The exit code of a program that cannot read its own (EX_OSERR, sysexits.h).
  public static let unreadable: Int32 = 71

  /// True when there is one. Swift reads it from `/proc`; where that is not mounted, or no file can be opened, it finds
  /// none at all, and a program would do what it does without arguments.
  public static var areReadable: Bool { CommandLine.argc > 0 }

  /// Runs `body` with what follows the program's name, or says that it cannot be read. The answer is the exit code.
  public static func run(_ program: String, _ body: ([String]) -> Int32) -> Int32 {
    guard areReadable else {
      StandardStream.errors.complain(program, problem)
      return unreadable
    }
    return body(Array(CommandLine.arguments.dropFirst()))
  }

  /// The complaint when there is none.
  public static let problem =
    "cannot read the command line; mount /proc, or raise the limit of open files with `ulimit -n`"
}
