import Foundation
import Glibc
import Testing
import VaultTesting

/// A user of the machine whose login opens a vault: a real account, a real PAM service, and the real module.
final class LoginStand: Sendable {
  static let vaultPassword = "correct horse battery"
  static let floor = ["--kdf-memory", "19m", "--kdf-passes", "2"]
  /// The memory of Argon2id with ``floor``, in bytes.
  static let floorMemory = 19 << 20

  let sandbox: Sandbox
  let user: TestUser
  let service: PAMService

  /// The module, built by a make rule of its own, because it is no part of the package.
  private static let module = Result {
    let root = Repository.root.path
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let variables = ProcessInfo.processInfo.environment
    let built = try sandbox.run(
      ["--no-print-directory", "-s", "-C", root, ".build/pam/pam_vault.so"], program: "/usr/bin/make",
      environment: ["PATH": variables["PATH"], "HOME": variables["HOME"]])
    guard built.status == 0 else { throw SandboxError("make pam_vault.so: \(built)") }
    return root + "/.build/pam/pam_vault.so"
  }

  /// Lends a stand, which is closed after `body`.
  static func with(
    session: (before: String, behind: String) = ("", ""), _ body: (LoginStand) throws -> Void
  ) throws {
    let stand = try LoginStand(session: session)
    defer { stand.close() }
    try body(stand)
  }

  /// Makes the account and the PAM service.
  ///
  /// - Parameter session: lines before and behind the module's own.
  init(session: (before: String, behind: String) = ("", "")) throws {
    let module = try Self.module.get()
    sandbox = try Sandbox()
    user = try TestUser(in: sandbox)
    let root = sandbox.root
    // Make copies that every user can start.
    for path in [Sandbox.path(of: "vault"), Sandbox.path(of: "vaultd"), module] {
      try sandbox.run(path, root, program: "/bin/cp")
    }
    unsafe chmod(root, 0o711)
    for folder in [sandbox.home, sandbox.runtime, root + "/data", root + "/config"] {
      unsafe chown(folder, user.uid, user.uid)
    }
    service = try PAMService(
      """
      auth required pam_unix.so nodelay
      auth optional \(root)/pam_vault.so
      account required pam_unix.so
      password required pam_unix.so
      password optional \(root)/pam_vault.so
      session required pam_unix.so
      \(session.before.replacing("ROOT", with: root).replacing("USER", with: user.name))
      session optional \(root)/pam_vault.so vaultd=\(root)/vaultd
      \(session.behind.replacing("ROOT", with: root))

      """)
  }

  func close() {
    service.remove()
    sandbox.close()
    user.remove()
  }

  // MARK: The vault

  /// Runs `vault` as the user.
  @discardableResult
  func vault(_ arguments: String..., stdin: String = "") throws -> Outcome {
    try sandbox.run(
      asUser + [sandbox.root + "/vault"] + arguments, program: "/usr/bin/setpriv", stdin: Array(stdin.utf8))
  }

  private var asUser: [String] { ["--reuid=\(user.uid)", "--regid=\(user.uid)", "--clear-groups"] }

  /// Makes a vault whose login slot is for `password`, and leaves it locked, with its daemon running.
  func makeVault(login password: String? = nil) throws {
    let own = Self.vaultPassword + "\n"
    try #require(try vault(["init", "--password-stdin"] + Self.floor, stdin: own).status == 0)
    let added = try vault(
      ["slot", "add", "login", "--password-stdin"] + Self.floor, stdin: own + (password ?? user.password) + "\n")
    try #require(added.status == 0, "\(added)")
    try #require(try vault("lock").status == 0)
  }

  private func vault(_ arguments: [String], stdin: String) throws -> Outcome {
    try sandbox.run(
      asUser + [sandbox.root + "/vault"] + arguments, program: "/usr/bin/setpriv", stdin: Array(stdin.utf8))
  }

  /// Returns the `state` that the daemon reports; nil if none runs.
  func state() throws -> String? { try status()["state"] as? String }

  /// Returns the availability of the method `login` according to the daemon, and the reason if it is not available.
  func login() throws -> (isPossible: Bool?, reason: String?) {
    let methods = try status()["methods"] as? [[String: Any]] ?? []
    let login = methods.first { $0["name"] as? String == "login" }
    return (login?["available"] as? Bool, login.flatMap(WireClient.sentence))
  }

  private func status() throws -> [String: Any] {
    let said = try vault("status", "--json").output
    return try JSONSerialization.jsonObject(with: Data((said.isEmpty ? "{}" : said).utf8)) as? [String: Any] ?? [:]
  }

  /// Returns the login slot as `vault slot list` shows it.
  func loginSlot() throws -> [String: Any] {
    for line in try vault("slot", "list", "--json").output.split(separator: "\n") {
      let slot = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      if let slot, slot["kind"] as? String == "login" { return slot }
    }
    throw SandboxError("there is no login slot")
  }

  /// Ends the daemon and waits until it is gone.
  func endDaemon() throws {
    let pid = try #require(sandbox.daemonPid)
    kill(pid, SIGTERM)
    try wait("the daemon to end") { kill(pid, 0) != 0 }
  }

  // MARK: PAM

  /// Makes pamtester do what a login program does, and returns its outcome.
  ///
  /// - Parameters:
  ///   - typed: the lines for pamtester to read.
  ///   - identity: options of setpriv(1); if empty, pamtester runs as root.
  ///   - other: the user who logs in instead of the test's user.
  ///   - missing: variables that PAM's modules do not set.
  ///   - others: variables that the modules set to other values.
  @discardableResult
  func pamtester(
    _ operations: String..., typed: [String], identity: [String] = [], user other: TestUser? = nil,
    without missing: [String] = [], but others: [String: String] = [:]
  ) throws -> Outcome {
    let variables = sandbox.environment.filter {
      ($0.key == "HOME" || $0.key.hasPrefix("XDG_")) && !missing.contains($0.key)
    }.merging(others) { $1 }
    return try sandbox.run(
      identity + ["/usr/bin/pamtester"] + variables.map { "-E\($0.key)=\($0.value)" } + [
        service.name, (other ?? user).name,
      ]
        + operations,
      program: identity.isEmpty ? "/usr/bin/env" : "/usr/bin/setpriv",
      stdin: Array(typed.map { $0 + "\n" }.joined().utf8),
      // The variables that pamtester passes on come from PAM only.
      environment: ["XDG_RUNTIME_DIR": nil, "XDG_DATA_HOME": nil, "XDG_CONFIG_HOME": nil])
  }

  /// Makes a whole login with the user's password, or with another one.
  @discardableResult
  func logIn(_ password: String? = nil, asUser isUser: Bool = false) throws -> Outcome {
    try pamtester(
      "authenticate", "acct_mgmt", "open_session", typed: [password ?? user.password], identity: isUser ? asUser : [])
  }

  /// Waits for an effect of another process.
  func wait(_ what: String, until isThere: () throws -> Bool) throws {
    for _ in 0..<3000 {
      if try isThere() { return }
      usleep(10_000)
    }
    throw SandboxError("waited in vain for \(what)")
  }
}
