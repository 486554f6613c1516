import Foundation
import Glibc
import NIOCore
import NIOPosix
import Testing
import VaultCore
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

/// Runs checks on a loop of its own, as the daemon does, with `vault-pam` or with a script instead.
final class PresenceStand: Sendable {
  /// The test's reaction to a prompt.
  enum Reaction: Sendable {
    case nothing
    case answer(String)
    case cancel
  }

  /// The prompts and the outcome of a check.
  struct Result: Sendable {
    /// The prompts, each as `style text`.
    var said: [String]
    var outcome: PresenceCheck.Outcome
  }

  let sandbox: Sandbox
  let user: TestUser
  let loop: any EventLoop
  private let watcher: NIOLoopBound<DescriptorWatcher>

  /// The path of a copy of the built helper that every user can start.
  let program: String
  /// The path at which the helper's unit would listen.
  var socket: String { sandbox.root + "/pam.socket" }

  init() throws {
    sandbox = try Sandbox()
    user = try TestUser(in: sandbox)
    unsafe chmod(sandbox.root, 0o711)
    program = sandbox.root + "/vault-pam"
    // A separate process makes the copy: a file that this process itself had written could not be started while a child
    // of another test, between its fork and its exec, still held it open.
    try sandbox.run(Sandbox.path(of: "vault-pam"), program, program: "/bin/cp")
    loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    let loop = loop
    watcher = try loop.submit { NIOLoopBound(try DescriptorWatcher(loop: loop), eventLoop: loop) }.wait()
  }

  func close() {
    loop.shutdownGracefully { _ in }
    user.remove()
    sandbox.close()
  }

  /// Writes a shell script to use instead of the helper. `$helper` is the real helper, `$pid` the file for ``pid()``,
  /// `$uid` the test's user.
  func script(_ text: String) throws -> String {
    let path = sandbox.root + "/script-" + String(UInt32.random(in: 0...UInt32.max), radix: 36)
    let head = "#!/bin/bash\nhelper=\(program) pid=\(sandbox.root)/pid uid=\(user.uid)\n"
    try sandbox.run("-c", "cat >\(path); chmod 755 \(path)", program: "/bin/sh", stdin: head + text + "\n")
    return path
  }

  /// Writes a script that runs the helper as the test's user.
  func asUser(_ options: String = "") throws -> String {
    try script("exec setpriv \(options) --reuid=$uid --regid=$uid --clear-groups \"$helper\"")
  }

  /// Returns the process id that a script wrote.
  func pid() throws -> pid_t {
    let text = try String(contentsOfFile: sandbox.root + "/pid", encoding: .utf8)
    return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  /// Waits until a process is gone and reaped.
  func waitForEnd(of pid: pid_t) throws {
    for _ in 0..<10_000 {
      if kill(pid, 0) != 0 && errno == ESRCH { return }
      usleep(1000)
    }
    Issue.record("process \(pid) is still there")
  }

  /// Runs a check of the test's user to its end; returns nil if `react` cancelled it.
  ///
  /// - Parameters:
  ///   - uid: a uid to use instead of the test user's.
  ///   - program: a program to run instead of the helper.
  ///   - variables: the child's environment, as `NAME=value`.
  ///   - react: receives each prompt as `style text`.
  func check(
    _ service: String, uid: UInt32? = nil, through program: String? = nil, variables: [String] = [],
    socket: String? = nil, forbidsNewPrivileges: Bool = false, limits: PresenceCheck.Limits = .init(),
    react: @escaping @Sendable (String) throws -> Reaction = { _ in .nothing }
  ) throws -> Result? {
    let done = loop.makePromise(of: Result?.self)
    let (program, uid, socket) = (program ?? self.program, uid ?? user.uid, socket ?? self.socket)
    loop.execute { [watcher, loop] in
      let helper = PresenceHelper(
        loop: loop, watcher: watcher.value, ends: HelperEnds(), socket: socket, program: program,
        environment: ["PATH=/usr/bin:/bin:/usr/sbin:/sbin"] + variables, forbidsNewPrivileges: forbidsNewPrivileges)
      var check: PresenceCheck?
      var said: [String] = []
      check = PresenceCheck(
        through: helper, service: service, uid: uid, limits: limits,
        onPrompt: { style, text in
          said.append("\(style.rawValue) \(text)")
          do {
            switch try react("\(style.rawValue) \(text)") {
            case .nothing: break
            case .answer(let answer): check?.answer(consuming: SecureBytes(copying: unsafe answer.utf8.span.bytes))
            case .cancel:
              check?.cancel()
              done.succeed(nil)
            }
          } catch {
            done.fail(error)
          }
        }, onEnd: { done.succeed(Result(said: said, outcome: $0)) })
      // A limit, so that the test never waits for ever.
      loop.assumeIsolated().scheduleTask(in: .seconds(90)) { done.fail(TooLate(said: said)) }
    }
    return try done.futureResult.wait()
  }

  /// Returns the obstacle to a check that is known without an attempt; nil if there is none.
  func availability(of service: String, _ program: String?, forbidsNewPrivileges: Bool) throws -> String? {
    try loop.submit { [watcher, loop, socket, uid = user.uid] in
      PresenceCheck.obstacle(
        to: service, uid: uid,
        through: PresenceHelper(
          loop: loop, watcher: watcher.value, ends: HelperEnds(), socket: socket, program: program,
          forbidsNewPrivileges: forbidsNewPrivileges))?.sentence
    }.wait()
  }

  struct TooLate: Error { var said: [String] }

  /// Listens as the helper's unit does, and starts `program` for each connection, for as long as the returned value
  /// lives.
  func listen(_ program: String) throws -> Activation { try Activation(socket, in: sandbox, command: [program]) }
}
