internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultProcess
internal import VaultWire

/// The person's editor.
struct Editor {
  /// The milliseconds that an editor gets to restore the terminal when a signal ends everything.
  private static let patience: Int32 = 2000

  /// The program and its first arguments; the file follows them.
  private let command: [String]

  /// - Throws: ``Failure`` if there is no editor.
  init() throws(Failure) {
    for variable in ["VISUAL", "EDITOR"] {
      guard let words = Environment.variable(variable), words.contains(where: { !$0.isWhitespace }) else { continue }
      // The variable may contain options, as in `code --wait`, so the shell splits it, as for every program that starts
      // an editor. The shell then becomes the editor, so that the editor gets the signals.
      command = ["/bin/sh", "-c", "exec \(words) \"$@\"", words]
      return
    }
    guard let path = ["editor", "nano", "vi"].lazy.compactMap({ Tool.find($0) }).first else {
      throw Failure(.configuration, "there is no editor", "name one in $VISUAL or $EDITOR")
    }
    // An editor that a variable names may open its own window. The editors above read from a terminal and draw on it.
    // Without one, they would wait forever.
    let advice = "name an editor that needs no terminal in $VISUAL"
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { throw .unasked(advice: advice) }
    _ = try Keyboard(otherwise: advice)
    command = [path]
  }

  /// Lets a person edit a text in a file of its own. The file is gone when this returns, or when a signal ends the
  /// program. If the editor fails, the text becomes what the editor has left of it, or stays if nothing is left.
  func edit(_ text: inout SecretBuffer) throws(Failure) {
    // Signals are caught before the file exists, so that none ends the program while the file is there.
    let signals = try SignalPipe(SignalPipe.ending, foreign: Self.typed)
    let file = try EditedFile.make(text)
    switch try run(file.path, signals) {
    case .done(0): text = try file.read()
    case .done(let status):
      if let left = try? file.read(), left.count > 0 { text = left }
      throw Failure(.io, "the editor ended with exit status \(status)", "nothing was stored; see $VISUAL and $EDITOR")
    case .signal(let number):
      _ = consume file
      signals.deliver(number)
      throw Failure(Fault.cancelled)
    }
  }

  /// The signals that are typed belong to the editor, which has the terminal.
  private static let typed = [SIGINT, SIGQUIT]

  private enum End {
    case done(Int32)
    case signal(Int32)
  }

  private func run(_ path: String, _ signals: borrowing SignalPipe) throws(Failure) -> End {
    // A process that ignores SIGCHLD cannot learn how a child ended.
    signal(SIGCHLD, SIG_DFL)
    let process: StartedProgram
    do throws(StartedProgram.Failure) {
      // The editor's core file would hold the value, so the lowered limit stays in force.
      process = try StartedProgram(
        command + [path], descriptors: [.ours(STDIN_FILENO), .ours(STDOUT_FILENO), .ours(STDERR_FILENO)],
        hasOwnSession: false, keepsDirectory: true)
    } catch {
      throw Failure(.io, "\(error.call): \(Output.describe(error.errno))", "see $VISUAL and $EDITOR")
    }
    let watch = pidfd_open(process.pid, 0)
    defer { close(watch) }
    var ended: Int32?
    while true {
      var polled = [
        pollfd(fd: watch, events: Int16(POLLIN), revents: 0),
        pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let ready = unsafe poll(&polled, ended == nil ? 2 : 1, ended == nil ? -1 : Self.patience)
      if ready < 0, errno != EINTR { throw Failure(.io, "cannot wait for the editor: \(Output.describe(errno))") }
      if polled[0].revents != 0 || ready == 0 { break }
      guard ended == nil, let number = signals.next(), !Self.typed.contains(number) else { continue }
      kill(process.pid, number == SIGHUP ? SIGHUP : SIGTERM)
      // A stopped editor would not receive the signal before the file is gone.
      kill(process.pid, SIGCONT)
      ended = number
    }
    if let ended {
      // An editor that is still running is left to itself.
      _ = waitpid(process.pid, nil, WNOHANG)
      return .signal(ended)
    }
    var status: Int32 = 0
    while unsafe waitpid(process.pid, &status, 0) < 0, errno == EINTR {}
    return .done(status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
  }
}
