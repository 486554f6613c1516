import Foundation
import Glibc
import Synchronization
import Testing
import VaultBytes
import VaultClient
import VaultTesting
import VaultWire

/// The daemon is killed, and its socket starts it again, while programs that link the client library make calls.
@Suite("A daemon that is killed and started again by its socket") struct RestartTests {
  private static let password = "correct horse battery"
  private static let kills = 6
  /// Larger than a socket's buffer, so that a kill also interrupts an answer.
  private static let large = String(repeating: "v", count: 600_000)

  /// The state that the clients share: whether to end, and the errors.
  private final class Outcome: Sendable {
    private let errors = Mutex<[String]>([])
    private let ended = Atomic<Bool>(false)
    private let told = Atomic<Bool>(false)
    private let answers = Atomic<Int>(0)
    private let sets = Atomic<Int>(0)
    /// The record of the writing client.
    let writer = Mutex<Writer>(Writer())

    var isOver: Bool { ended.load(ordering: .relaxed) }
    var isTold: Bool { told.load(ordering: .relaxed) }
    var answered: Int { answers.load(ordering: .relaxed) }
    var stored: Int { sets.load(ordering: .relaxed) }
    var problems: [String] { errors.withLock { $0 } }
    func answer() { answers.add(1, ordering: .relaxed) }
    func store() { sets.add(1, ordering: .relaxed) }
    func tell() { told.store(true, ordering: .relaxed) }
    func end() { ended.store(true, ordering: .relaxed) }
    func report(_ problem: String) { errors.withLock { $0.append(problem) } }

    /// Waits until there are this many more answers and sets, or until anything has gone wrong.
    func await(answers: Int, sets: Int) {
      let (answered, stored) = (self.answered + answers, self.stored + sets)
      while problems.isEmpty, self.answered < answered || self.stored < stored { sched_yield() }
    }
  }

  /// Makes a vault whose items can be read as soon as the daemon runs, before any unlock.
  private func prepare(_ sandbox: Sandbox) throws -> SocketUnit {
    let unit = try SocketUnit(in: sandbox, config: "idle = off\nmaximum-age = off")
    let made = try sandbox.converse("Init", ["kdf_memory": 19 << 20, "kdf_passes": 2]) { _ in Self.password }
    try #require(made?.error == nil, "\(String(describing: made))")
    for (name, value) in [("token", "t"), ("large", Self.large), ("kept", "0")] {
      let item: WireClient.Message = ["name": name, "value": value, "kind": "note", "accessible": "always"]
      try #require(try sandbox.client().call("Set", item).error == nil)
    }
    return unit
  }

  private static func library(_ sandbox: Sandbox) throws -> Vault {
    var vault = Vault(at: try SocketLocation.user(explicit: sandbox.socket))
    vault.patience = .seconds(60)
    return vault
  }

  /// Repeats `body` on a thread; each error is one that a caller has seen.
  private func run(
    _ sandbox: Sandbox, _ outcome: Outcome, _ group: DispatchGroup, _ title: String,
    _ body: @escaping @Sendable (Vault) throws -> Void
  ) {
    group.enter()
    Thread.detachNewThread {
      do {
        let vault = try Self.library(sandbox)
        while !outcome.isOver {
          try body(vault)
          outcome.answer()
        }
      } catch {
        outcome.report("\(title): \(error)")
      }
      group.leave()
    }
  }

  @Test("those who read see nothing of it, and nobody's set is made twice") func underLoad() async throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let unit = try prepare(sandbox)
    defer { unit.close() }
    let outcome = Outcome()
    let events = try Self.library(sandbox).events()
    let watching = Task {
      defer { outcome.tell() }
      for try await event in events where event.name == "end" { return true }
      return false
    }
    try kill(unit, sandbox, outcome)
    #expect(outcome.problems == [])
    #expect(unit.starts == Self.kills + 1)
    // The watcher reconnects by itself, soon.
    let setter = try Self.library(sandbox)
    while !outcome.isTold {
      try setter.set(Wire.NewItem(name: "end", kind: "note", update: true), value: SecretBuffer())
    }
    #expect(try await watching.value)
  }

  /// Kills the daemon repeatedly while clients make calls.
  private func kill(_ unit: SocketUnit, _ sandbox: Sandbox, _ outcome: Outcome) throws {
    let group = DispatchGroup()
    for _ in 0..<2 {
      run(sandbox, outcome, group, "get") { vault in
        guard try vault.get("token", as: String.self) == "t" else { throw SandboxError("another value") }
      }
      run(sandbox, outcome, group, "large get") { vault in
        guard try vault.get("large", as: String.self) == Self.large else { throw SandboxError("another value") }
      }
      run(sandbox, outcome, group, "status") { vault in _ = try vault.status() }
      run(sandbox, outcome, group, "find") { vault in
        guard try vault.find("token=none").isEmpty else { throw SandboxError("an item that is not there") }
      }
    }
    run(sandbox, outcome, group, "set") { vault in
      if try outcome.writer.withLock({ try $0.set(vault) }) { outcome.store() }
    }
    for _ in 0..<Self.kills {
      // A client that connects between a kill and the next start waits in the socket's queue; so does this unlock.
      try sandbox.unlock(Self.password)
      outcome.await(answers: 100, sets: 3)
      unit.kill()
    }
    try sandbox.unlock(Self.password)
    outcome.await(answers: 100, sets: 1)
    outcome.end()
    group.wait()
  }

  /// A client that sets one item repeatedly, and checks the result after each set.
  private struct Writer {
    var count = 0
    var version = 1
    var value = "0"

    /// Returns true if a value was stored.
    mutating func set(_ vault: Vault) throws -> Bool {
      count += 1
      var new = SecretBuffer()
      new.append(utf8: "\(count)")
      var made: Int?
      do {
        made = try vault.set(Wire.NewItem(name: "kept", update: true), value: new).version
      } catch {
        if case .fault(.locked) = error { return false }
        // The daemon may or may not have stored the value.
        guard error == .disconnected else { throw error }
      }
      let found = try vault.read("kept")
      let text = found.bytes.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { bytes in unsafe String(decoding: bytes, as: UTF8.self) }
      }
      let isDone = found.version == version + 1 && text == "\(count)" && made ?? found.version == found.version
      let isUndone = found.version == version && text == value && made == nil
      guard isDone || isUndone else {
        throw SandboxError("set \(count) on \(version) gives \(made ?? 0), and there is \(found.version): \(text)")
      }
      (version, value) = (found.version, text)
      return isDone
    }
  }
}
