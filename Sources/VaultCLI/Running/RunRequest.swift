internal import ArgumentParser
internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultWire

/// The work of `vault run`, however its command line was read.
///
/// Programs are started through it again and again, so ``init(fast:)`` reads what needs no argument parser, as
/// ``GetRequest`` does.
struct RunRequest: Equatable {
  var assignments: [Assignment] = []
  var files: [String] = []
  var command: [String] = []
  var masks = false
  var fetch = Fetch()
  var socket: String?
  var system = false

  init() {}

  /// Reads `run` with `-e`, `--env-file`, `--system` and `--socket PATH`, each correct and in this spelling; nil for every
  /// other command line.
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

  /// Returns never: the process becomes the program, or ends as it.
  func run() throws {
    let variables = try Variables(files, assignments)
    let session = try Session(socket: socket, system: system, startsDaemon: true)
    session.leavesNoChild = true
    let fetched = try fetch.items(variables.items, for: "vault run \(command[0])", session)
    try variables.check(fetched)
    let environment = EnvironmentBlock(variables, fetched)
    guard masks else { throw become(environment) }
    let values = MaskedValues(variables.items, fetched)
    try MaskedProgram(command, environment, values).run()
  }

  /// Becomes the program; what comes back is the reason why that cannot be.
  private func become(_ environment: borrowing EnvironmentBlock) -> Failure {
    // Each string is copied, and lives until the program is another one; the array ends with a null pointer.
    var arguments = unsafe command.map { unsafe strdup($0) } + [nil]
    let code = environment.use {
      Hardening.withEarlierState {
        unsafe execvp(command[0], &arguments)
        return errno
      }
    }
    return Self.failure(command[0], code)
  }

  /// The failure to start a program, with the exit codes that shells have for it.
  static func failure(_ program: String, _ code: Int32) -> Failure {
    let name = Printable.quoted(program)
    switch code {
    case ENOENT: return Failure(.noProgram, "there is no program \(name)", "install it, or give its path")
    case E2BIG:
      return Failure(
        .notRunnable, "\(name) cannot be run: its arguments and variables are too large",
        "hand large values over in a file, with \(Hint.vault("get")) or \(Hint.vault("inject"))")
    default: return Failure(.notRunnable, "\(name) cannot be run: \(Output.describe(code))")
    }
  }
}
