import CSystemd
import Glibc
import Logging
import VaultBytes
import VaultCore
import VaultModel
import VaultStore

@testable import VaultDaemon
@testable import VaultService

/// A small vault in memory, made once per process, and a door of the Secret Service to it for each input.
final class BusStage {
  /// The clocks, which stand still until time is to pass, and the work that is due then.
  final class Hands: @unchecked Sendable {
    var time: Int64 = 1_000_000_000
    private var due: [(at: Int64, number: Int, work: () -> Void)] = []
    private var count = 0

    var timer: VaultService.Timer {
      VaultService.Timer { [unowned self] delay, work in
        count += 1
        let number = count
        due.append((time + delay, number, work))
        return { [weak self] in self?.due.removeAll { $0.number == number } }
      }
    }

    func pass(seconds: Int64) {
      time += seconds * 1_000_000_000
      let now = due.filter { $0.at <= time }
      due.removeAll { $0.at <= time }
      for entry in now { entry.work() }
    }
  }

  private final class Worker: VaultService.Worker {
    func run<T: Sendable>(_ work: @escaping @Sendable () -> T, then done: @escaping (T) -> Void) {
      done(Job(work).run())
    }
    func whenIdle(_ then: @escaping () -> Void) { then() }
  }

  private struct NoKeystores: Keystores {
    func store(
      _ key: borrowing SecureBytes, in kind: KeystoreKind, vault: [UInt8],
      then: @escaping (Result<[UInt8], KeystoreError>) -> Void
    ) -> () -> Void { {} }

    func fetch(
      _ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8],
      then: @escaping (consuming Result<SecureBytes, KeystoreError>) -> Void
    ) -> () -> Void { {} }

    func remove(
      _ locator: [UInt8], from kind: KeystoreKind, vault: [UInt8], then: @escaping (KeystoreError?) -> Void
    ) {}
  }

  private final class NoRSA: RSAProgram {
    func ask(
      _ question: RSAQuestion, key: SecretBox?, then: @escaping (Result<SecretBox, RSAFailure>) -> Void,
      gone: @escaping () -> Void
    ) -> () -> Void { {} }
  }

  nonisolated(unsafe) static let shared = BusStage()
  nonisolated(unsafe) private static var path = ""

  let hands = Hands()
  let bus = Bus()
  let turns: Turns
  let rooms: Rooms
  private let runner: Runner
  private let rsa = NoRSA()
  private static let owner: UInt32 = 1000
  private static var key: SecureBytes { SecureBytes(count: 32) { $0.set(7, at: 31) } }

  private init() {
    Randomness.replace()
    let parent = unsafe getenv("FUZZ_FOLDER").map { unsafe String(cString: $0) } ?? "/dev/shm"
    let path = "\(parent)/vault-fuzz-bus-\(getpid())"
    unsafe Self.path = path
    precondition(unsafe mkdir(path, 0o700) == 0, "the fuzzer's folder cannot be made")
    _ = atexit { BusStage.remove() }
    let hands = hands
    let clock = Clock(boot: { hands.time }, monotonic: { hands.time }, wall: { 2000 })
    turns = Turns(now: clock.monotonic, ask: {})
    runner = Runner(clock, hands.timer) {}
    do {
      let id = VaultID.random().bytes
      let slot = try SlotRecord.make(
        id: 1, kind: .recovery, label: "", created: 1, secret: RecoveryCode.random().text(), kdf: nil,
        vaultKey: Self.key, vaultID: id)
      try Keychain.create(in: path, slots: [slot], vaultID: id, vaultKey: Self.key, bootKey: Self.key, now: 1)
    } catch {
      fatalError("no vault can be made: \(error)")
    }
    let means = Presence.Means(
      fingers: { _, then in then(.noBus) }, obstacle: { _ in Obstacle("nobody is there") },
      check: { _, _, _ in fatalError() })
    rooms = Rooms(
      directory: path, Access.Terms(owner: Self.owner, isSystem: false, administrators: nil), Self.settings(false),
      Rooms.World(
        clock: clock, timer: hands.timer, log: Log { _, _ in }, worker: Worker(), turns: turns, runner: runner,
        presence: means, keystores: NoKeystores(), rsa: rsa, credentials: nil))
  }

  private static func remove() {
    let path = unsafe path
    for name in ["vault.db", "vault.db-wal", "vault.db-shm", "vault.db-journal", "vault.lock", "keyring", "prompts"] {
      unsafe unlink("\(path)/\(name)")
    }
    unsafe rmdir(path)
  }

  private static func settings(_ hidesNames: Bool) -> VaultSettings {
    var settings = VaultSettings()
    settings.hideNames = hidesNames
    settings.audit.mode = .off
    settings.keyring.shares = (try? [ItemPattern("shared/**")]) ?? []
    return settings
  }

  func caller(_ number: Int32) -> Caller {
    Caller(
      door: .secretService, uid: Self.owner, groups: [], pid: number, started: UInt64(number), unit: nil,
      session: AuthenticationSession(uid: Self.owner, scope: .session, pid: number, started: 1),
      memory: Caller.Memory(executable: { nil }))
  }

  /// Opens the door of an unlocked vault that has an item of each kind: shared, of a program, and for the portal.
  func open(hidesNames: Bool) -> SecretServiceDoor {
    Randomness.restart()
    let clients = Clients()
    let clock = { [hands] in hands.time }
    let plaintext = Plaintext(in: turns, now: clock, after: { [hands] in _ = hands.timer.after($0, $1) })
    let door = SecretServiceDoor(
      rooms, on: bus, clients, turns, plaintext, hands.timer, keepingIn: unsafe Self.path, mostForPortal: 4, Logger())
    rooms.vault.hooks.announce = { [unowned door] in door.keyring.happened($0) }
    rooms.reconfigure(Self.settings(hidesNames))
    unlock()
    door.isOn = true
    return door
  }

  func unlock() {
    do {
      let keychain = try rooms.vault.keychain()
      try keychain.unlock(vaultKey: Self.key)
      rooms.vault.unlocked(keychain, by: .asked, for: nil, then: {})
    } catch {
      fatalError("the vault does not open: \(error)")
    }
    run()
  }

  func run() {
    for _ in 0..<64 where turns.isAwaited || runner.isBusy {
      turns.turn()
      if runner.isBusy { runner.turn() }
    }
  }

  /// Deletes what an input has left.
  func clear(_ door: SecretServiceDoor) {
    unlock()
    let caller = caller(1)
    while let keychain = rooms.vault.openKeychain,
      let found = try? keychain.find(Query(within: CollectionID.root), limit: 64, now: 2000), !found.items.isEmpty
    {
      do { _ = try rooms.items.delete(found.items.map(\.name), isForGood: true, for: caller) } catch {
        fatalError("an item cannot be deleted: \(error)")
      }
    }
    rooms.vault.hooks = hooks
  }

  private lazy var hooks = rooms.vault.hooks
  /// Keeps the vault's hooks as they are without a door.
  func begin() { _ = hooks }
}
