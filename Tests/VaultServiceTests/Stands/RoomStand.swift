import Testing
import VaultCore
import VaultModel
import VaultStore
import VaultTesting

@testable import VaultService

/// The rooms of a vault without a daemon around them: time passes when the test says so, and the work of a thread is
/// done at once.
final class RoomStand {
  /// The clocks, and the work that is due when they have advanced. `CLOCK_MONOTONIC` drives timers; a sleep advances
  /// only `CLOCK_BOOTTIME`.
  final class Hands {
    private struct Entry {
      let at: Int64
      let number: Int
      let work: () -> Void
    }

    private let time = Shared<Int64>(1_000_000_000)
    private let slept = Shared<Int64>(0)
    /// The nanoseconds by which each reading of `CLOCK_MONOTONIC` advances it, so that code that reads it finds its
    /// time up.
    let stride = Shared<Int64>(0)
    /// The wall clock, in Unix seconds, which stands still.
    let wall = Shared<Int64>(2000)
    private var entries: [Entry] = []
    private var count = 0

    /// `CLOCK_BOOTTIME` nanoseconds.
    var now: Int64 { time.value + slept.value }

    var clock: Clock {
      let (time, slept, wall, stride) = (time, slept, wall, stride)
      return Clock(
        boot: { time.value + slept.value },
        monotonic: {
          time.value += stride.value
          return time.value
        }, wall: { wall.value })
    }

    var timer: VaultService.Timer {
      Timer { [unowned self] delay, work in
        count += 1
        let number = count
        entries.append(Entry(at: time.value + delay, number: number, work: work))
        return { [weak self] in self?.entries.removeAll { $0.number == number } }
      }
    }

    /// True if no work is due at any time.
    var isAtRest: Bool { entries.isEmpty }

    func pass(seconds: Int64) { pass(seconds * 1_000_000_000) }

    /// Lets the machine sleep for this many nanoseconds, which no timer notices.
    func sleep(_ nanoseconds: Int64) { slept.value += nanoseconds }

    func sleep(seconds: Int64) { sleep(seconds * 1_000_000_000) }

    /// Lets time pass while the machine is awake.
    func pass(_ nanoseconds: Int64) {
      let end = time.value + nanoseconds
      while let next = entries.filter({ $0.at <= end }).min(by: { ($0.at, $0.number) < ($1.at, $1.number) }) {
        entries.removeAll { $0.number == next.number }
        time.value = max(time.value, next.at)
        next.work()
      }
      time.value = end
    }
  }

  /// A value that closures share; the stand is used on a single thread.
  final class Shared<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  /// The worker, whose results the test can hold back.
  final class Worker: VaultService.Worker {
    /// The results that wait; nil while each is delivered at once.
    private var held: [() -> Void]?

    func hold() { held = [] }

    /// Delivers the results that wait, and from now on each at once.
    func release() {
      let results = held ?? []
      held = nil
      for deliver in results { deliver() }
    }

    func run<T: Sendable>(_ work: @escaping @Sendable () -> T, then done: @escaping (T) -> Void) {
      let result = Job(work).run()
      if held == nil { done(result) } else { held?.append { done(result) } }
    }

    func whenIdle(_ then: @escaping () -> Void) { if held == nil { then() } else { held?.append(then) } }
  }

  /// Keystores none of which is available.
  struct NoKeystores: Keystores {
    private let none = KeystoreError(.unavailable, "there is none")

    func store(
      _ key: borrowing SecureBytes, in kind: KeystoreKind, vault: [UInt8],
      then: @escaping (Result<[UInt8], KeystoreError>) -> Void
    ) -> () -> Void {
      then(.failure(none))
      return {}
    }

    func fetch(
      _ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8],
      then: @escaping (consuming Result<SecureBytes, KeystoreError>) -> Void
    ) -> () -> Void {
      then(.failure(none))
      return {}
    }

    func remove(
      _ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8], then: @escaping (KeystoreError?) -> Void
    ) { then(none) }
  }

  /// The program for large RSA keys, played by the test, which decides on its answers and their time.
  final class PlayedRSA: RSAProgram {
    /// The question, with the closures that answer it and that report the process gone.
    struct Asked {
      let question: RSAQuestion
      let answer: (Result<SecretBox, RSAFailure>) -> Void
      let gone: () -> Void
    }
    private(set) var asked: [Asked] = []
    /// The number of processes that were ended before they had answered.
    private(set) var ended = 0

    func ask(
      _ question: RSAQuestion, key: SecretBox?, then: @escaping (Result<SecretBox, RSAFailure>) -> Void,
      gone: @escaping () -> Void
    ) -> () -> Void {
      asked.append(Asked(question: question, answer: then, gone: gone))
      return { [unowned self] in ended += 1 }
    }

    /// Answers the first question, and ends its process.
    func answer(_ bytes: [UInt8] = [1]) {
      let first = asked.removeFirst()
      first.answer(.success(SecretBox(RoomStand.secret(bytes))))
      first.gone()
    }
  }

  static let owner: UInt32 = 1000
  /// The group of the administrators of a machine's vault.
  static let administrators: UInt32 = 900

  let hands = Hands()
  let turns: Turns
  let runner: Runner
  let rooms: Rooms
  let rsa = PlayedRSA()
  let worker = Worker()
  /// The users whose groups were looked up.
  let lookedUp = Shared<[UInt32]>([])
  /// The lines written to the journal.
  let journal = Shared<[String]>([])
  private let sandbox: Sandbox

  /// - Parameters:
  ///   - fingers: the fingers that are enrolled; nil if that cannot be determined.
  ///   - prepare: makes the store at the given path.
  init(
    _ settings: VaultSettings = VaultSettings(), system: Bool = false, keystores: any Keystores = NoKeystores(),
    fingers: [String]? = nil, prepare: (String) throws -> Void = { _ in }
  ) throws {
    sandbox = try Sandbox()
    try prepare(sandbox.store)
    turns = Turns(now: hands.clock.monotonic, ask: {})
    runner = Runner(hands.clock, hands.timer) {}
    let unavailable = Obstacle("nobody is there")
    let means = Presence.Means(
      fingers: { _, then in then(fingers.map { .fingers($0) } ?? .noBus) }, obstacle: { _ in unavailable },
      check: { _, _, _ in preconditionFailure("nobody is there") })
    rooms = Rooms(
      directory: sandbox.store,
      Access.Terms(owner: Self.owner, isSystem: system, administrators: system ? Self.administrators : nil), settings,
      Rooms.World(
        clock: hands.clock, timer: hands.timer, log: Log { [journal] in journal.value.append("\($0): \($1)") },
        worker: worker, turns: turns, runner: runner, presence: means, keystores: keystores, rsa: rsa,
        credentials: nil,
        groups: { [lookedUp] in
          lookedUp.value.append($0)
          return [$0]
        }))
  }

  deinit { sandbox.close() }

  var vault: Vault { rooms.vault }
  var items: Items { rooms.items }

  /// Makes a caller of that uid, in a session of its own.
  static func caller(
    _ uid: UInt32 = owner, session: Int32 = 100, unit: String? = nil, executable: String? = nil
  ) -> Caller {
    Caller(
      door: .varlink, uid: uid, groups: [uid], pid: session, started: nil, unit: unit,
      session: AuthenticationSession(uid: uid, scope: .session, pid: session, started: 1),
      memory: Caller.Memory(executable: { executable }))
  }

  /// A caller who administers this vault.
  var administrator: Caller { Self.caller(access.terms.isSystem ? 0 : Self.owner) }
  var access: Access { rooms.access }

  /// Runs turns, and slices of long work, until nothing is left to do at once.
  func run() {
    for _ in 0..<1000 {
      turns.turn()
      if runner.isBusy { runner.turn() }
    }
  }

  static func secret(_ bytes: [UInt8]) -> SecureBytes {
    SecureBytes(count: bytes.count) { out in
      for (index, byte) in bytes.enumerated() { out.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
    }
  }

  private static let key = [UInt8](repeating: 7, count: 32)
  private static let bootKey = [UInt8](repeating: 8, count: 32)

  /// Returns the vault key of the vaults that ``unlocked(_:system:code:)`` makes.
  static func vaultKey() -> SecureBytes { secret(key) }

  /// Makes a stand with a vault that is unlocked and empty.
  ///
  /// - Parameters:
  ///   - code: the vault's recovery code.
  ///   - made: called with the path of the store before it is opened.
  static func unlocked(
    _ settings: VaultSettings = VaultSettings(), system: Bool = false,
    code: SecretBox = SecretBox(RecoveryCode.random().text()), made: (String) -> Void = { _ in }
  ) throws -> RoomStand {
    let stand = try RoomStand(settings, system: system) { store in
      try makeStore(store, code: code)
      made(store)
    }
    try stand.unlock()
    return stand
  }

  /// Makes a store, as another program would, and closes it.
  static func makeStore(_ path: String, code: SecretBox = SecretBox(RecoveryCode.random().text())) throws {
    let id = VaultID.random().bytes
    let key = secret(key)
    let slot = try SlotRecord.make(
      id: 1, kind: .recovery, label: "", created: 1, secret: code.bytes, kdf: nil, vaultKey: key, vaultID: id)
    try Keychain.create(in: path, slots: [slot], vaultID: id, vaultKey: key, bootKey: secret(bootKey), now: 1)
  }

  /// Wipes all keys and closes the store. A test that makes many stands ends each of them: the rooms hold one another,
  /// and each key has pages of its own.
  func end() {
    vault.wipe()
    vault.closeStore()
  }

  /// Closes the store and opens it again, as a starting daemon does; with the boot key by default.
  func restart(withBootKey: Bool = true) throws {
    end()
    vault.openStore(because: .start)
    if withBootKey { try openWithBootKey() }
  }

  /// Edits the store as an adversary does while no daemon runs, and opens it again, without a key.
  func edit(_ statement: String) throws {
    end()
    try sandbox.editStore(statement)
    vault.openStore(because: .start)
  }

  func openWithBootKey() throws { try vault.keychain().openAlways(bootKey: Self.secret(Self.bootKey)) }

  /// Writes the boot key to the place that the settings name.
  func writeBootKey() throws {
    let file = rooms.waysIn.bootKey.file(credentials: nil)
    try Self.secret(Self.bootKey).withBytes { (bytes: RawSpan) throws(SystemError) in try file?.write(bytes) }
  }

  /// - Parameters:
  ///   - isRekeyed: true for a vault that has got its key from ``rekey(_:)``.
  ///   - then: run when the unlock would be answered.
  func unlock(isRekeyed: Bool = false, then: @escaping () -> Void = {}) throws {
    let keychain = try vault.keychain()
    vault.audit.willUnlock()
    try keychain.unlock(vaultKey: Self.secret(isRekeyed ? Self.nextKey : Self.key))
    vault.unlocked(keychain, by: .asked, for: nil, then: then)
  }

  /// Stores an item, whose value is one byte by default.
  func set(
    _ name: String, require: Requirement = .none, accessible: AccessClass = .whenUnlocked, kind: ItemKind? = nil,
    _ value: String = "*", by caller: Caller? = nil
  ) throws {
    var change = ItemChange(name: try ItemName(name), kind: kind)
    (change.require, change.accessible) = (require, accessible)
    let value = Array(value.utf8)
    _ = try items.set(change, .bytes(count: value.count), for: caller ?? administrator) { bytes in
      for (index, byte) in value.enumerated() { bytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
      return true
    }
  }
}

extension Wait? {
  /// Returns the event for which a call waits.
  ///
  /// - Throws: the refusal of a call that requires presence and does not wait for it.
  @discardableResult
  func orRefused() throws(Refusal) -> Wait? {
    guard case .presence(let name, let requirement)? = self else { return self }
    throw .presenceRequired(name.text, requirement)
  }
}
