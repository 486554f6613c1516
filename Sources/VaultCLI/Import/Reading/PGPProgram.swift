internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// The user's own gpg(1), which decrypts the files of a password store with the user's own keys and agent.
struct PGPProgram {
  /// The most bytes of a decrypted file; a small one can decompress to any size.
  private static let longest = 16 << 20
  /// The most bytes of gpg's messages that are read.
  private static let longestMessage = 4096

  enum Outcome {
    case text(SpooledParts)
    case failed(String)
  }

  private let path: String
  private let environment: [String]

  /// Finds the program.
  init() throws(Failure) {
    guard let path = Tool.find("gpg") ?? Tool.find("gpg2") else {
      throw Failure(.unavailable, "gpg is not installed, which decrypts a password store", "install gnupg")
    }
    self.path = path
    environment = Self.ownEnvironment()
  }

  /// Decrypts a file.
  ///
  /// - Throws: ``Failure`` if a person canceled the question for a passphrase: the other files would ask again.
  func decrypt(_ file: Int32, _ name: String) throws(Failure) -> Outcome {
    // A process that ignores SIGCHLD cannot learn how a child ended.
    signal(SIGCHLD, SIG_DFL)
    let messages = vault_memory_file()
    guard messages >= 3, let pipe = try? StartedProgram.pipe(for: 3) else {
      if messages >= 0 { close(messages) }
      throw Failure(.system, "cannot start gpg: \(Output.describe(errno))")
    }
    defer {
      close(pipe.read)
      close(messages)
    }
    // The agent asks for the passphrase by pinentry(1), which needs the terminal, so gpg stays in this session.
    let started = Hardening.withEarlierLimit {
      try? StartedProgram(
        [path, "--quiet", "--batch", "--yes", "--no-auto-key-retrieve", "--decrypt"], environment: environment,
        descriptors: [.ours(file), .ours(pipe.write), .ours(messages)], hasOwnSession: false)
    }
    close(pipe.write)
    guard let started else { throw Failure(.notRunnable, "cannot start \(Printable.text(path))", "see gpg(1)") }
    let parts: SpooledParts?
    do throws(Failure) { parts = try SpooledParts(pipe.read, name, most: Self.longest) } catch { parts = nil }
    if parts == nil { kill(started.pid, SIGKILL) }
    var status: Int32 = 0
    while unsafe waitpid(started.pid, &status, 0) < 0, errno == EINTR {}
    guard let parts else { return .failed("it has more than \(Counted.size(Self.longest))") }
    if status == 0 { return .text(parts) }
    let message = Self.message(messages)
    if message.contains("cancel") || message.contains("Cancel") { throw Failure(Fault.cancelled) }
    return .failed(message.isEmpty ? "gpg failed" : message)
  }

  /// The first message of gpg, without the name of the program before it.
  private static func message(_ file: Int32) -> String {
    var bytes = SecretBuffer()
    lseek(file, 0, SEEK_SET)
    _ = FileInput.read(file, into: &bytes, atMost: longestMessage)
    let text = bytes.withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      return String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
    let lines = text.split(separator: "\n").map { line in
      let text = line.utf8.starts(with: "gpg: ".utf8) ? line.dropFirst(5) : line
      return String(text.hasSuffix(".") ? text.dropLast() : text)
    }
    return Printable.text(lines.joined(separator: "; "))
  }

  /// This process's environment. In it, `GPG_TTY` leads pinentry(1) to the terminal.
  private static func ownEnvironment() -> [String] {
    var lines: [String] = []
    // Nothing in this process changes its environment; the array ends with a null pointer.
    var next = unsafe environ
    while let line = unsafe next.pointee {
      unsafe lines.append(String(cString: line))
      unsafe next += 1
    }
    if Environment.variable("GPG_TTY") == nil, let terminal = terminalName() { lines.append("GPG_TTY=\(terminal)") }
    return lines
  }

  /// The name of the terminal on a standard stream; nil if none of them is one.
  private static func terminalName() -> String? {
    for descriptor in [STDIN_FILENO, STDERR_FILENO, STDOUT_FILENO] where isatty(descriptor) == 1 {
      var name = [CChar](repeating: 0, count: 256)
      guard unsafe ttyname_r(descriptor, &name, name.count) == 0 else { continue }
      return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return nil
  }
}
