import Foundation
import Synchronization
import Testing
import VaultTesting

/// Programs that hold every connection of their user and open another for each that is closed, beside an agent that
/// comes anew, a lock, and a program that asks for an item. All of them belong to one user.
@Suite("An agent and a lock get through a crowd") struct CrowdTests {
  /// The ways in which a crowd keeps as many connections as there may be.
  enum Way: String, CaseIterable {
    /// One process holds all, each with a call that waits.
    case held
    /// Each is of a forked process, and has a call that waits.
    case forked
    /// One process holds all, and four others connect and close in a loop.
    case churning
    /// One process holds all, and each of them says that it is an agent.
    case pretending
  }

  /// The crowd. Its processes connect for threads of the test, which hold the connections until the test ends them.
  private final class Crowd: Sendable {
    /// Counts the connections that were opened and that no one has waited for.
    private let opening = DispatchSemaphore(value: 0)
    private let isOver = Atomic(false)
    private let failure = Mutex<(any Error)?>(nil)
    private let ended = DispatchSemaphore(value: 0)
    private let threads: Int

    init(_ way: Way, _ sandbox: Sandbox) throws {
      let first = try OtherProcess(in: sandbox)
      let holders = try way == .forked ? (0..<256).map { _ in try first.fork() } : [first]
      let churners = try (0..<(way == .churning ? 4 : 0)).map { _ in try first.fork() }
      threads = 1 + churners.count
      begin { [self] in try hold(holders, way) }
      for churner in churners { begin { [self] in try churn(churner) } }
      try expect(256)
    }

    private func begin(_ body: @escaping @Sendable () throws -> Void) {
      Thread.detachNewThread { [self] in
        do { try body() } catch { failure.withLock { $0 = error } }
        ended.signal()
      }
    }

    private func hold(_ holders: [OtherProcess], _ way: Way) throws {
      var clients = try (0..<256).map { try open(holders[$0 % holders.count], way) }
      while !isOver.load(ordering: .relaxed) {
        for index in WireClient.ready(of: clients) where clients[index].receiveWithoutWaiting() == nil {
          clients[index] = try open(holders[index % holders.count], way)
        }
      }
    }

    private func open(_ process: OtherProcess, _ way: Way) throws -> WireClient {
      let client = try process.connect()
      opening.signal()
      switch way {
      case .held, .forked, .churning: try client.begin("Monitor", more: true)
      case .pretending: try client.begin("Attend", ["faces": ["none"]], more: true)
      }
      return client
    }

    private func churn(_ process: OtherProcess) throws {
      while !isOver.load(ordering: .relaxed) {
        _ = try process.connect()
        opening.signal()
      }
    }

    private func expect(_ count: Int) throws {
      for _ in 0..<count where opening.wait(timeout: .now() + 60) != .success {
        throw failure.withLock { $0 } ?? SandboxError("the crowd opens no more connections")
      }
    }

    /// Waits until the crowd has opened as many connections again as there may be, and as many once more.
    func goOn() throws {
      while opening.wait(timeout: .now()) == .success {}
      try expect(512)
    }

    func end() {
      isOver.store(true, ordering: .relaxed)
      for _ in 0..<threads { ended.wait() }
    }
  }

  // One crowd at a time, because each has hundreds of descriptors in this process.
  @Test("that comes anew and stays, hears what it is told, and a lock is done", .serialized, arguments: Way.allCases)
  func crowd(_ way: Way) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.configure("pam-service = vault-test-none\n")
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["set", "web"], stdin: "hunter2")
    let crowd = try Crowd(way, sandbox)
    defer { crowd.end() }
    let terminal = try Terminal(sandbox, ["agent", "--faces", "terminal"])
    func attends() throws -> Bool {
      try sandbox.must(["status", "--json"]).contains("\"pid\":\(terminal.pid),")
    }
    try wait(for: "the agent") { try attends() }
    try crowd.goOn()
    #expect(try attends())
    try sandbox.must(["lock"])
    try terminal.expect("Vault: locked by `vault lock`")
    try crowd.goOn()
    let reader = Begun(sandbox, ["get", "web"])
    try terminal.expect("to unlock the vault")
    switch way {
    case .held, .churning, .pretending:
      try terminal.expect("Vault password")
      terminal.type(password)
      #expect(try reader.outcome().output == "hunter2")
    case .forked:
      // Each of the crowd's processes has no more connections than the reader, which is the one that is silent longest
      // before anybody answers.
      let outcome = try reader.outcome()
      #expect(outcome.status == 75, "\(outcome)")
      #expect(outcome.errors.hasPrefix("vault: the daemon has reached its limit of 256 clients, "), "\(outcome)")
    }
    // The agent was never cut off.
    #expect(try attends() && !terminal.screen.contains("trying again"))
    terminal.signal(SIGTERM)
    _ = try terminal.wait()
  }
}
