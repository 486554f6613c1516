import Foundation
import Glibc
import Synchronization
import VaultProcess

/// The vault of a user made for one test, with a daemon and clients that run as that user. Needs root.
///
/// The vault uses a PAM service of the test's own. The test talks to the daemon through processes of the user, one for
/// each session (setsid) that it names.
public final class UserVault: Sendable {
  public let sandbox: Sandbox
  public let user: TestUser
  public let service: PAMService
  /// The vault's own password, which has 32 characters.
  public let password: String
  private let processes = Mutex<[String: OtherProcess]>([:])

  private var programs: String { sandbox.root + "/bin" }
  private var identity: [String] { ["--reuid=\(user.uid)", "--regid=\(user.uid)", "--clear-groups"] }

  /// Makes the user and the services.
  ///
  /// - Parameter pam: The text of the PAM service; a second service, which asks only for a finger, is made with it.
  public init(pam: String = PAMService.fingerOrPassword) throws {
    password = String((0..<32).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
    let sandbox = try Sandbox()
    self.sandbox = sandbox
    do { user = try TestUser(in: sandbox) } catch {
      sandbox.close()
      throw error
    }
    do { service = try PAMService(pam, biometry: PAMService.finger) } catch {
      user.remove()
      sandbox.close()
      throw error
    }
    unsafe chmod(sandbox.root, 0o711)
    // Copies that the user can start, wherever the build folder is. Another process makes them: a file that this
    // process wrote could not be started while another test's child still had it open.
    let names = ["vault", "vaultd", "vault-pam", "vault-tpm2", "vault-keyring", "vault-agent"].map {
      Sandbox.path(of: $0)
    }
    try must(
      sandbox.run(
        ["-c", "mkdir $0 && (cp -l \"$@\" $0 2>/dev/null || cp \"$@\" $0)", programs] + names, program: "/bin/sh"))
  }

  /// Ends everything, and removes the user and the services. Safe to call twice.
  public func close() {
    service.remove()
    // A user who still has processes cannot be removed.
    sandbox.endAll()
    user.remove()
    sandbox.close()
  }

  // MARK: The daemon

  /// Starts the daemon with these settings in addition to `pam-service`.
  public func start(_ config: String = "idle = off") throws {
    try sandbox.configure("pam-service = \(service.name)\n\(config)\n")
    try giveAway(sandbox.home, sandbox.runtime, sandbox.root + "/data", sandbox.root + "/config")
    try sandbox.startDaemon(through: ["/usr/bin/setpriv"] + identity + [programs + "/vaultd"])
  }

  /// Makes the vault with the smallest allowed Argon2id parameters, and starts the daemon again, so that it is cold.
  ///
  /// - Returns: The recovery code, if one was requested.
  @discardableResult
  public func make(_ config: String = "idle = off", recovery: Bool = false) throws -> String? {
    try start(config)
    var code: String?
    let talk = try converse("Init", ["recovery": recovery, "kdf_memory": 19 << 20, "kdf_passes": 2]) { prompt in
      guard let shown = prompt["code"] as? String else { return .answer(password) }
      code = shown
      return .answer(shown)
    }
    guard talk.reply?.error == nil else { throw SandboxError("Init: \(talk)") }
    try sandbox.stopDaemon()
    try start(config)
    return code
  }

  /// Gives files of root to the user.
  public func giveAway(_ paths: String...) throws {
    try must(sandbox.run(["-R", "\(user.uid):\(user.uid)"] + paths, program: "/bin/chown"))
  }

  private func must(_ outcome: Outcome) throws {
    guard outcome.status == 0 else { throw SandboxError("\(outcome)") }
  }

  // MARK: The clients

  /// Runs the client as the user.
  @discardableResult
  public func run(_ arguments: String..., stdin: String = "") throws -> Outcome {
    try sandbox.run(
      identity + [programs + "/vault"] + arguments, program: "/usr/bin/setpriv", stdin: Array(stdin.utf8))
  }

  /// Runs the client as the user on a terminal.
  public func terminal(_ arguments: String...) throws -> Terminal {
    try Terminal(sandbox, identity + [programs + "/vault"] + arguments, program: "/usr/bin/setpriv")
  }

  /// A connection of the user from the session of that name.
  public func client(in session: String = "own") throws -> WireClient {
    let process = try processes.withLock { processes in
      let process = try processes[session] ?? OtherProcess(in: sandbox, uid: user.uid)
      processes[session] = process
      return process
    }
    return try process.connect()
  }

  /// The user's reaction to a prompt.
  public enum Reaction {
    case nothing
    case answer(String)
    /// Closes the connection.
    case leave
  }

  /// The prompts of a conversation, each as `style text`, and its last reply; nil if the user left.
  public struct Talk: CustomStringConvertible {
    public var said: [String] = []
    public var reply: WireClient.Reply?
    public var description: String { "\(reply.map { "\($0)" } ?? "left") after \(said)" }

    /// True if one of the prompts contains `text`.
    public func mentions(_ text: String) -> Bool { said.contains { $0.contains(text) } }
  }

  /// Holds a conversation.
  @discardableResult
  public func converse(
    _ method: String, _ parameters: WireClient.Message = [:], in session: String = "own",
    react: (WireClient.Message) throws -> Reaction
  ) throws -> Talk {
    let asking = try client(in: session)
    var talk = Talk()
    var reply = try asking.call(method, parameters, more: true)
    while reply.error == nil, let prompt = reply.prompt, let conversation = reply.string("conversation") {
      talk.said.append("\(prompt["style"] as? String ?? "") \(prompt["text"] as? String ?? "")")
      switch try react(prompt) {
      case .nothing: break
      case .answer(let answer):
        let given: WireClient.Message = [
          "conversation": conversation, "answer": answer, "number": prompt["number"] as? Int ?? 0,
        ]
        let answered = try client(in: session).call("Respond", given)
        if let error = answered.error { throw SandboxError("Respond: \(error) after \(talk.said)") }
      case .leave: return talk
      }
      reply = try asking.reply()
    }
    talk.reply = reply
    return talk
  }

  /// Holds a conversation: touches the reader with the next of `prints` at each invitation, and types the next of
  /// `answers` at each question. Leaves if there is none left.
  @discardableResult
  public func converse(
    _ method: String, _ parameters: WireClient.Message = [:], in session: String = "own",
    touching prints: [String] = [], on reader: FingerprintStand? = nil, typing answers: [String] = []
  ) throws -> Talk {
    var (prints, answers) = (prints[...], answers[...])
    return try converse(method, parameters, in: session) { prompt in
      let style = prompt["style"] as? String ?? ""
      if style == "error" { return .nothing }
      if style == "info" {
        guard (prompt["text"] as? String)?.hasPrefix("Swipe") == true else { return .nothing }
        guard let reader, let print = prints.popFirst() else { return .leave }
        try reader.touch(print)
        return .nothing
      }
      return answers.popFirst().map { .answer($0) } ?? .leave
    }
  }

  /// Unlocks the vault, or tries to, with ``converse(_:_:in:touching:on:typing:)``.
  @discardableResult
  public func unlock(
    _ parameters: WireClient.Message = [:], in session: String = "own", touching prints: [String] = [],
    on reader: FingerprintStand? = nil, typing answers: [String] = []
  ) throws -> Talk {
    try converse("Unlock", parameters, in: session, touching: prints, on: reader, typing: answers)
  }

  /// Makes a PAM slot for the user.
  public func addSlot(_ keystore: String, _ parameters: WireClient.Message = [:]) throws -> Talk {
    try converse(
      "AddSlot", parameters.merging(["kind": "pam", "keystore": keystore]) { old, _ in old }, typing: [password])
  }

  public func lock() throws {
    let reply = try client().call("Lock")
    if let error = reply.error { throw SandboxError("Lock: \(error)") }
  }

  /// The state of the vault and its cause, such as `locked: by `vault lock``.
  public func state() throws -> String {
    let status = try client().call("Status")
    return "\(status.string("state") ?? ""): \(status.string("cause") ?? "")"
  }

  /// The reason that a method cannot be used now; nil if it can, and `not listed` if the daemon does not list it.
  public func obstacle(to method: String) throws -> String? {
    let methods = try client().call("Status").parameters["methods"] as? [WireClient.Message] ?? []
    guard let found = methods.first(where: { $0["name"] as? String == method }) else { return "not listed" }
    return found["available"] as? Bool == true ? nil : WireClient.sentence(found) ?? ""
  }
}
