import Foundation
import Glibc
import Synchronization

/// A user of this machine with a password, made for one test. It is removed with the test or, if the run was killed, by
/// the next one. Needs root.
public final class TestUser: Sendable {
  /// True if this process may make users.
  public static let canBeMade = Root.isAtHand

  public let name: String
  public let uid: UInt32
  public let password: String
  private let sandbox: Sandbox
  private let isRemoved = Mutex(false)

  /// Runs `body` while no other process of the tests changes the user database. The tools for that retry its lock only
  /// once a second, so taking turns is faster.
  private static func inTurn<R>(_ body: () throws -> R) throws -> R {
    // The file always exists, and nobody else locks it.
    let file = unsafe open("/usr/sbin/useradd", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SandboxError("useradd: \(errno)") }
    defer { close(file) }
    while flock(file, LOCK_EX) != 0 {
      guard errno == EINTR else { throw SandboxError("flock: \(errno)") }
    }
    return try body()
  }

  /// Removes the users of processes that were killed before they could remove these.
  private static func removeLeftUsers(_ sandbox: Sandbox) throws {
    for line in try String(contentsOfFile: "/etc/passwd", encoding: .utf8).split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      guard fields.count == 7, fields[0].hasPrefix("vt"), TestProcess.isGone(String(fields[4])) else { continue }
      // Another run may remove the user at the same time.
      _ = try? run(sandbox, "userdel", "--force", String(fields[0]))
    }
  }

  public init(in sandbox: Sandbox) throws {
    self.sandbox = sandbox
    try Self.removeLeftUsers(sandbox)
    name = "vt" + String(UInt32.random(in: 0...UInt32.max), radix: 36)
    password = "pæss-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    try Self.run(
      sandbox, "useradd", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin",
      "--no-log-init", "--comment", TestProcess.tag, name)
    do {
      uid =
        UInt32(
          try sandbox.run("-u", name, program: "/usr/bin/id").output.trimmingCharacters(in: .whitespacesAndNewlines))
        ?? 0
      guard uid != 0 else { throw SandboxError("\(name) has no uid") }
      try Self.run(sandbox, "chpasswd", input: "\(name):\(password)\n")
    } catch {
      _ = try? Self.run(sandbox, "userdel", "--force", name)
      throw error
    }
  }

  deinit { remove() }

  /// Changes the account with `chage`, `usermod` or a similar tool; the user's name is the last argument.
  public func change(_ tool: String, _ arguments: String...) throws {
    try Self.run(sandbox, tool, arguments: arguments + [name])
  }

  /// Removes the user. Safe to call twice.
  public func remove() {
    let first = isRemoved.withLock { removed in
      defer { removed = true }
      return !removed
    }
    if first { _ = try? Self.run(sandbox, "userdel", "--force", name) }
  }

  private static func run(_ sandbox: Sandbox, _ tool: String, _ arguments: String..., input: String = "") throws {
    try run(sandbox, tool, arguments: arguments, input: input)
  }

  private static func run(_ sandbox: Sandbox, _ tool: String, arguments: [String], input: String = "") throws {
    let path = ["/usr/sbin/", "/usr/bin/"].map { $0 + tool }.first { FileManager.default.fileExists(atPath: $0) }
    let outcome = try inTurn { try sandbox.run(arguments, program: path ?? tool, stdin: Array(input.utf8)) }
    guard outcome.status == 0 else { throw SandboxError("\(tool): \(outcome)") }
  }
}

extension Sandbox {
  /// Shell commands for a separate mount namespace in which this line of passwd(5) is the only one for its name.
  ///
  /// They replace the whole of `/etc` there: a file mounted over `/etc/passwd` would vanish as soon as
  /// anybody replaces that file.
  public func otherAccount(_ line: String) -> String {
    let name = line.prefix { $0 != ":" }
    return """
      cp -a /etc \(root)/etc 2>/dev/null
      { echo "\(line)"; grep -v "^\(name):" /etc/passwd; } >\(root)/etc/passwd && mount --bind \(root)/etc /etc || exit
      """
  }
}

/// A PAM service of the machine, made for one test. It is removed with the test or, if the run was killed, by the next
/// one. Needs root.
public final class PAMService: Sendable {
  /// The name under which PAM finds the service, `vault-test-…`.
  public let name: String
  private var path: String { Self.folder + name }
  private static let folder = "/etc/pam.d/"
  private static let prefix = "vault-test-"

  /// Removes the files of processes that were killed before they could remove these.
  private static func removeLeftFiles() throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: folder)
    where file.hasPrefix(prefix) && TestProcess.isGone(String(file.dropFirst(prefix.count))) {
      unsafe unlink(folder + file)
    }
  }

  /// Writes the service's file and, if `biometry` is given, that of the service `…-biometry`.
  public init(_ text: String, biometry: String? = nil) throws {
    name = Self.prefix + TestProcess.tag + "-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    try Self.removeLeftFiles()
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    if let biometry { try Data(biometry.utf8).write(to: URL(fileURLWithPath: path + "-biometry")) }
  }

  deinit { remove() }

  /// Removes the files. Safe to call twice.
  public func remove() {
    unsafe unlink(path)
    unsafe unlink(path + "-biometry")
  }

  /// A service that accepts only the login password, without the pause that pam_unix makes after a wrong one.
  public static let password = "auth required pam_unix.so nodelay\naccount required pam_unix.so\n"
  /// The service that is installed as `vault`, without that pause.
  public static let fingerOrPassword = """
    -auth sufficient pam_fprintd.so max-tries=3 timeout=30
    auth required pam_unix.so nodelay
    account required pam_unix.so

    """
  /// The service that is installed as `vault-biometry`.
  public static let finger = """
    auth required pam_fprintd.so max-tries=3 timeout=30
    account required pam_unix.so

    """
}
