internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The user's own gpg(1), which decrypts the files of a password store with the user's own keys and agent.
struct PGPProgram: StoreProgram {
  static let name = "gpg"
  static let suffix = ".gpg"
  /// The most bytes of a decrypted file; a small one can decompress to any size.
  private static let longest = 16 << 20

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

  func decrypt(_ file: Int32, _ name: String) throws(Failure) -> OpenedEntry {
    // The agent asks for the passphrase by pinentry(1), which needs the terminal.
    let run = try CapturedRun(
      [path, "--quiet", "--batch", "--yes", "--no-auto-key-retrieve", "--decrypt"], environment: environment,
      input: file, what: name, most: Self.longest)
    guard let parts = run.output else { return .failed("it has more than \(Counted.size(Self.longest))") }
    if run.isDone { return .text(parts) }
    let message = run.messages(without: "gpg: ")
    if message.contains("cancel") || message.contains("Cancel") { throw Failure(Fault.cancelled) }
    return .failed(message.isEmpty ? "gpg failed" : message)
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
