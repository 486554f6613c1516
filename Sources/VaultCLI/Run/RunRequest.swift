internal import ArgumentParser
internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultWire

/// The work of `vault run`, in whichever way its command line was read.
///
/// Other programs are started through `vault run` again and again, so ``init(fast:)`` reads simple command lines
/// without the argument parser, as ``GetRequest`` does.
struct RunRequest: Equatable {
  var assignments: [Assignment] = []
  var files: [String] = []
  var command: [String] = []
  var masks = false
  var fetch = Fetch()
  var socket: String?
  var system = false

  init() {}

  /// Reads `run` with `-e`, `--env-file`, `--system` and `--socket PATH`, if each is correct and in this spelling; nil
  /// for every other command line.
  init?(fast arguments: ArraySlice<String>) {
    guard arguments.first == "run" else { return nil }
    var rest = arguments.dropFirst()
    while let argument = rest.popFirst(), argument != "--" {
      if argument == "--system" {
        system = true
        continue
      }
      guard ["-e", "--env-file", "--socket"].contains(argument), let value = rest.popFirst(),
        value.utf8.first != UInt8(ascii: "-")
      else { return nil }
      switch argument {
      case "-e":
        guard let assignment = try? Assignment(parsing: value) else { return nil }
        assignments.append(assignment)
      case "--env-file": files.append(value)
      default: socket = value
      }
    }
    command = Array(rest)
    if command.isEmpty || assignments.isEmpty && files.isEmpty || system && socket != nil { return nil }
  }

  /// Runs the program. Never returns: the process becomes the program, or ends as the program does.
  func run() throws {
    let variables = try Variables(files, assignments)
    let session = try Session(socket: socket, system: system, startsDaemon: true)
    session.leavesNoChild = true
    let fetched = try fetch.items(
      variables.items, for: "vault run \(command[0])", session, place: { variables.place(of: $0) })
    try variables.check(fetched)
    let environment = EnvironmentBlock(variables, fetched)
    guard masks else { throw become(environment) }
    let values = MaskedValues(variables.items, fetched)
    try MaskedProgram(command, environment, values).run()
  }

  /// Becomes the program. Returns only on failure, with the reason.
  private func become(_ environment: borrowing EnvironmentBlock) -> Failure {
    // Each string is copied, and lives until this process becomes another program; the array ends with a null pointer.
    var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
    let code = environment.use {
      Hardening.withEarlierState {
        unsafe execvp(command[0], &arguments)
        return errno
      }
    }
    return Self.failure(command[0], code)
  }

  /// The failure to start a program, with the exit code that shells use for it.
  static func failure(_ program: String, _ code: Int32) -> Failure {
    let name = Printable.quoted(program)
    switch code {
    case ENOENT: return Failure(.noProgram, "there is no program \(name)", "install it, or give its path")
    case E2BIG:
      return Failure(
        .notRunnable, "\(name) cannot be run: its arguments and variables are too large",
        "pass large values in a file, with \(Hint.vault("get")) or \(Hint.vault("inject"))")
    default: return Failure(.notRunnable, "\(name) cannot be run: \(Output.describe(code))")
    }
  }
}
