internal import CLinux
internal import Glibc
internal import VaultProcess
internal import VaultWire

/// The person's editor.
struct Editor {
  /// The time that an editor has to put its terminal in order when a signal ends everything, in milliseconds.
  private static let patience: Int32 = 2000

  /// A program and its first arguments; the file follows them.
  private let command: [String]

  /// - Throws: ``Failure`` when there is none.
  init() throws(Failure) {
    for variable in ["VISUAL", "EDITOR"] {
      guard let words = Environment.variable(variable), words.contains(where: { !$0.isWhitespace }) else { continue }
      // It may have options, as in `code --wait`: the shell takes it apart, as for every program that has an editor. It makes
      // way for the editor, which has to get the signals.
      command = ["/bin/sh", "-c", "exec \(words) \"$@\"", words]
      return
    }
    // Those that are named may have windows of their own. These would read from where the messages go, for ever.
    if Keyboard.isAttended { _ = try Keyboard(otherwise: "name an editor that needs none in $VISUAL") }
    guard let path = ["editor", "nano", "vi"].lazy.compactMap({ Tool.find($0) }).first else {
      throw Failure(.configuration, "there is no editor", "name one in $VISUAL or $EDITOR")
    }
    command = [path]
  }

  /// Has a text edited in a file of its own, and answers what it is then. The file is gone when this returns, or when a
  /// signal ends the program.
  func edit(_ text: borrowing SecretBuffer) throws(Failure) -> SecretBuffer {
    // Before there is a file, so that none of them ends the program with that in place.
    let signals = try SignalPipe(SignalPipe.ending, foreign: Self.typed)
    let file = try EditedFile.make(text)
    switch try run(file.path, signals) {
    case .done(0): return try file.read()
    case .done(let status):
      throw Failure(.io, "the editor ended with exit status \(status)", "nothing was stored; see $VISUAL and $EDITOR")
    case .signal(let number):
      _ = consume file
      signals.deliver(number)
      throw Failure(Fault.cancelled)
    }
  }

  /// The signals that are typed: they are the editor's, which has the terminal.
  private static let typed = [SIGINT, SIGQUIT]

  private enum End {
    case done(Int32)
    case signal(Int32)
  }

  private func run(_ path: String, _ signals: borrowing SignalPipe) throws(Failure) -> End {
    // Who ignores it cannot be told how a child ended.
    signal(SIGCHLD, SIG_DFL)
    let process: StartedProgram
    do throws(StartedProgram.Failure) {
      // Its core file would hold the value, so the limit stays as it is here.
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
      // One that is stopped would not hear of it before the file is gone.
      kill(process.pid, SIGCONT)
      ended = number
    }
    if let ended {
      // One that goes on is no longer ours to wait for.
      _ = waitpid(process.pid, nil, WNOHANG)
      return .signal(ended)
    }
    var status: Int32 = 0
    while unsafe waitpid(process.pid, &status, 0) < 0, errno == EINTR {}
    return .done(status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
  }
}
