internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel

/// The user's own age(1), which decrypts the files of a store of passage with the user's own identities.
///
/// The variables are those of passage itself (src/password-store.sh in FiloSottile/passage).
final class AgeProgram: StoreProgram {
  static let name = "age"
  static let suffix = ".age"
  /// The most bytes of a decrypted file, and of the identities.
  private static let longest = (file: 16 << 20, identities: 1 << 20)
  /// The beginnings of a file that is encrypted (https://age-encryption.org/v1).
  private static let headers = ["age-encryption.org/", "-----BEGIN AGE ENCRYPTED FILE-----"]

  private let path: String
  /// The path of the identities, as the program takes it.
  private let identities: String
  /// The decrypted identities in memory; nil if they are not encrypted.
  private let opened: Int32?

  /// Finds the program and the identities. If a passphrase protects the identities, age asks for it, once for all
  /// files.
  init() throws(Failure) {
    let name = Environment.variable("PASSAGE_AGE") ?? Self.name
    guard let path = name.hasPrefix("/") ? name : Tool.find(name) else {
      throw Failure(.unavailable, "\(Printable.text(name)) is not installed, which decrypts a store of passage")
    }
    self.path = path
    let home = Environment.variable("HOME") ?? ""
    let named = Environment.variable("PASSAGE_IDENTITIES_FILE") ?? home + "/.passage/identities"
    let file = unsafe vault_open(named, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard file >= 0 else {
      throw Failure(
        .unavailable, "cannot open the identities of passage, \(Printable.quoted(named)): \(Output.describe(errno))",
        "name them in PASSAGE_IDENTITIES_FILE")
    }
    defer { close(file) }
    if Self.isEncrypted(file) {
      opened = try Self.open(file, named, by: path)
      // The program's own descriptor 3, which is a file in memory.
      identities = "/proc/self/fd/3"
    } else {
      opened = nil
      identities = named
    }
  }

  deinit { if let opened { close(opened) } }

  func decrypt(_ file: Int32, _ name: String) throws(Failure) -> OpenedEntry {
    let run = try CapturedRun(
      [path, "--decrypt", "-i", identities], input: file, extra: opened, keepsDirectory: true, what: name,
      most: Self.longest.file)
    guard let parts = run.output else { return .failed("it has more than \(Counted.size(Self.longest.file))") }
    return run.isDone ? .text(parts) : .failed(Self.reason(run))
  }

  /// The first message of the program, which asks for a report after it.
  private static func reason(_ run: CapturedRun) -> String {
    let message = run.messages(without: "age: error: ")
    let first = message.components(upTo: "; ")
    return first.isEmpty ? "age failed" : first
  }

  private static func isEncrypted(_ file: Int32) -> Bool {
    var start = SecretBuffer()
    _ = FileInput.read(file, into: &start, atMost: 64)
    lseek(file, 0, SEEK_SET)
    return CapturedRun.lines(start).first.map { line in headers.contains { line.hasPrefix($0) } } ?? false
  }

  /// Decrypts the identities into a file in memory, which only the program gets.
  private static func open(_ file: Int32, _ name: String, by path: String) throws(Failure) -> Int32 {
    let run = try CapturedRun([path, "--decrypt"], input: file, what: name, most: longest.identities)
    guard run.isDone, let parts = run.output else {
      throw Failure(.denied, "the identities of passage, \(Printable.quoted(name)), stay closed: \(reason(run))")
    }
    let memory = vault_memory_file()
    guard memory >= 0 else { throw Failure(.system, "cannot make a file in memory: \(Output.describe(errno))") }
    for part in parts.parts {
      do { try part.bytes.withBytes { try Output.write($0, to: memory) } } catch {
        close(memory)
        throw Failure(.system, "cannot write to a file in memory")
      }
    }
    return memory
  }
}

extension String {
  /// The text before the first occurrence of another one; the whole text if it does not occur.
  fileprivate func components(upTo separator: String) -> String {
    firstRange(of: separator).map { String(self[..<$0.lowerBound]) } ?? self
  }
}
