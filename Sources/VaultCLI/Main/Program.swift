internal import ArgumentParser
internal import Glibc
internal import VaultProcess

/// The command-line program `vault`.
public enum VaultProgram {
  /// The variables whose values name files.
  private static let pathVariables: [StaticString] = [
    "HOME", "PATH", "VAULT_SOCKET", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
  ]

  /// Runs the command line, and ends the process with an exit code of sysexits.h.
  public static func main() -> Never {
    Hardening.begin()
    if let problem = StartText.problem(pathVariables) {
      let isUsage = if case .argument = problem { true } else { false }
      end(with: Failure(isUsage ? .usage : .configuration, problem.text("vault(1)")))
    }
    do throws(Failure) {
      if let call = try HelperCall.given() { finish { try call.run() } }
    } catch {
      end(with: error)
    }
    // The form that other programs run most comes first: it needs neither an array of arguments nor the argument
    // parser.
    if let name = plainGet() { finish { try GetRequest(name: name).run() } }
    let arguments = CommandLine.arguments.dropFirst()
    if let request = GetRequest(fast: arguments) { finish { try request.run() } }
    if let request = RunRequest(fast: arguments) { finish { try request.run() } }
    if arguments.first == Clipboard.forgetCommand { finish { try Clipboard.forget(arguments.dropFirst()) } }
    if arguments.first == Completion.command { finish { try Completion.print(arguments.dropFirst()) } }
    finish {
      var command = try Arguments.parse(Array(arguments))
      try command.run()
    }
  }

  /// The item's name, if the command line is exactly `vault get NAME`; nil otherwise.
  private static func plainGet() -> String? {
    // The kernel's own argument vector: it lives as long as the process, and each of its strings ends with a NUL.
    let argv = unsafe CommandLine.unsafeArgv
    guard CommandLine.argc == 3, let command = unsafe argv[1], unsafe strcmp(command, "get") == 0,
      let name = unsafe argv[2], unsafe name[0] != 0, unsafe name[0] != CChar(UInt8(ascii: "-"))
    else { return nil }
    return unsafe String(cString: name)
  }

  private static func finish(_ body: () throws -> Void) -> Never {
    do {
      try body()
      exit(0)
    } catch let failure as Failure {
      end(with: failure.suggesting)
    } catch let code as ExitCode {
      // The exit code is the answer.
      exit(code.rawValue)
    } catch {
      leave(error)
    }
  }

  private static func end(with failure: Failure) -> Never {
    Output.note(failure.message)
    Output.note(names: failure.names)
    exit(failure.exit.rawValue)
  }

  /// Ends the process with the argument parser's message: help, or an error that came late.
  private static func leave(_ error: any Error) -> Never {
    guard VaultCommand.exitCode(for: error) == .success else {
      end(with: Failure(.usage, UsageError.message(VaultCommand.message(for: error)), "see `vault --help`"))
    }
    let arguments = Array(CommandLine.arguments.dropFirst())
    let answer = Arguments.answer(error, to: arguments)
    guard Arguments.isQuestion(arguments) else {
      // A group of commands without one of them is an incomplete command line, and a script must notice that.
      _ = StandardStream.errors.write(answer + "\n")
      exit(Exit.usage.rawValue)
    }
    do throws(Failure) { try Output.line(answer) } catch { end(with: error) }
    exit(0)
  }
}
