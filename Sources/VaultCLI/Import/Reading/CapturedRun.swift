internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultProcess

/// A run of one of the user's own programs, whose output may hold secrets and is never whole in ordinary memory.
struct CapturedRun {
  /// The most bytes of messages that are read.
  private static let longestMessage = 4096
  /// The lowest number of a descriptor that no descriptor of the program has.
  private static let lowest: Int32 = 8

  /// True if the program ended with the exit code 0.
  let isDone: Bool
  /// The standard output; nil if it has more bytes than were allowed.
  let output: SpooledParts?
  /// The lines on standard error.
  let messages: [String]

  /// Runs a program to its end. It stays in this session, because it may ask on the terminal.
  ///
  /// - Parameters:
  ///   - command: the absolute path of the program and its arguments.
  ///   - environment: lines `NAME=value`; nil for this process's own environment.
  ///   - input: the file that is the program's standard input.
  ///   - extra: a file that is the program's descriptor 3; nil if it has none.
  ///   - keepsDirectory: true for arguments that are relative paths.
  ///   - what: the name of the output, for an error.
  ///   - most: the most bytes of the output.
  init(
    _ command: [String], environment: [String]? = nil, input: Int32?, extra: Int32? = nil,
    keepsDirectory: Bool = false, what: String, most: Int
  ) throws(Failure) {
    // A process that ignores SIGCHLD cannot learn how a child ended.
    signal(SIGCHLD, SIG_DFL)
    let file = vault_memory_file()
    let messages = fcntl(file, F_DUPFD_CLOEXEC, Self.lowest)
    if file >= 0 { close(file) }
    guard messages >= 0, let pipe = try? StartedProgram.pipe(for: Int(Self.lowest)) else {
      if messages >= 0 { close(messages) }
      throw Failure(.system, "cannot start \(Printable.text(command[0])): \(Output.describe(errno))")
    }
    defer {
      close(pipe.read)
      close(messages)
    }
    let given = [input, extra].map { $0.map { fcntl($0, F_DUPFD_CLOEXEC, Self.lowest) } }
    let standard: [StartedProgram.Descriptor] = [
      given[0].map { .ours($0) } ?? .null, .ours(pipe.write), .ours(messages),
    ]
    let started = Hardening.withEarlierLimit {
      try? StartedProgram(
        command, environment: environment, descriptors: standard + (given[1].map { [.ours($0)] } ?? []),
        hasOwnSession: false, keepsDirectory: keepsDirectory)
    }
    close(pipe.write)
    for descriptor in given { if let descriptor { close(descriptor) } }
    guard let started else { throw Failure(.notRunnable, "cannot start \(Printable.text(command[0]))") }
    do throws(Failure) { output = try SpooledParts(pipe.read, what, most: most) } catch { output = nil }
    if output == nil { kill(started.pid, SIGKILL) }
    var status: Int32 = 0
    while unsafe waitpid(started.pid, &status, 0) < 0, errno == EINTR {}
    isDone = status == 0
    lseek(messages, 0, SEEK_SET)
    var bytes = SecretBuffer()
    _ = FileInput.read(messages, into: &bytes, atMost: Self.longestMessage)
    self.messages = Self.lines(bytes)
  }

  /// The lines of what a program told a person, without a name before each and a period after it.
  func messages(without name: String) -> String {
    let lines = messages.map { line in
      let text = line.utf8.starts(with: name.utf8) ? String(Substring(line.utf8.dropFirst(name.utf8.count))) : line
      return text.hasSuffix(".") ? String(text.dropLast()) : text
    }
    return Printable.text(lines.joined(separator: "; "))
  }

  /// The lines of a text without the empty ones.
  static func lines(_ text: borrowing SecretBuffer) -> [String] {
    text.withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      let text = String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
      return text.utf8.split(separator: 0x0A).map { String(Substring($0)) }
    }
  }
}

/// The outcome of opening one entry of a source by a program of the user.
enum OpenedEntry {
  case text(SpooledParts)
  case failed(String)
}

/// A program of the user that decrypts the files of a password store.
protocol StoreProgram {
  /// The name of the program.
  static var name: String { get }
  /// The ending of the names of the files that it decrypts.
  static var suffix: String { get }

  /// Decrypts a file.
  ///
  /// - Throws: ``Failure`` if a person canceled the question for a passphrase: the other files would ask again.
  func decrypt(_ file: Int32, _ name: String) throws(Failure) -> OpenedEntry
}
