import Glibc
import Synchronization
import Testing
import VaultCore
import VaultModel
import VaultStore
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

/// The pace that a backup and a restore require of their clients, on a clock that advances at each reading.
@Suite("The pace of a backup") struct PaceTests {
  private final class Steps: Sendable {
    private let now = Atomic<Int64>(0)
    private let step: Int64

    /// - Parameter step: the nanoseconds between two readings.
    init(_ step: Int64) { self.step = step }

    func next() -> Int64 { now.add(step, ordering: .relaxed).newValue }
  }

  @Test("is an average since the beginning, required after a while, and no pace earns more than the time in all")
  func limits() throws {
    let second: Int64 = 1_000_000_000
    var now: Int64 = 7
    let pace = Pace(Pace.Limits(least: 1000, grace: 10 * second, total: 100 * second)) { now }
    #expect(try pace.milliseconds(60_000) == 10_001 && pace.milliseconds(500) == 500)
    now = 6 + 10 * second
    #expect(try pace.milliseconds(60_000) == 1)
    now = 7 + 10 * second
    #expect(throws: RawSocket.Problem.tooSlow) { try pace.milliseconds(60_000) }
    pace.move(15_000)
    #expect(try pace.milliseconds(60_000) == 5001)
    pace.move(1000)
    #expect(try pace.milliseconds(60_000) == 6001)
    pace.move(1_000_000)
    #expect(try pace.milliseconds(60_000) == 60_000)
    now = 6 + 100 * second
    #expect(try pace.milliseconds(60_000) == 1)
    now = 7 + 100 * second
    #expect(throws: RawSocket.Problem.tooSlow) { try pace.milliseconds(60_000) }
    // No rate at all is required here.
    now = 7
    let unhurried = Pace(Pace.Limits(least: 0, grace: 10 * second, total: 100 * second)) { now }
    now = 7 + 50 * second
    #expect(try unhurried.milliseconds(60_000) == 50_001)
  }

  private static func hours() -> Steps { Steps(2 * 3_600_000_000_000) }

  /// Makes two connected ends: the daemon's, whose patience is short, and the client's.
  private static func pair() throws -> (RawSocket, Int32) {
    let (own, client) = try SocketPair.make()
    return (try RawSocket(own, of: nil, patience: 1), client)
  }

  /// Makes a vault; with `isLarge`, it has an item larger than a socket's buffer.
  private static func vault(
    in sandbox: Sandbox, _ key: borrowing SecureBytes, isLarge: Bool = true
  ) throws -> Keychain {
    let id = VaultID.random().bytes
    let slot = try SlotRecord.make(
      id: 1, kind: .recovery, label: "", created: 1, secret: RecoveryCode.random().text(), kdf: nil, vaultKey: key,
      vaultID: id)
    try Keychain.create(
      in: sandbox.store, slots: [slot], vaultID: id, vaultKey: key, bootKey: RandomBytes.secret(count: 32), now: 1)
    let keychain = try Keychain(opening: sandbox.store)
    try keychain.unlock(vaultKey: key)
    if isLarge {
      try keychain.set(ItemChange(name: ItemName("large")), value: RandomBytes.secret(count: 1 << 20), now: 1)
    }
    return keychain
  }

  @Test("a client that does not take what is sent is given up on, and the key is gone with it") func backup() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let keychain = try Self.vault(in: sandbox, RandomBytes.secret(count: 32))
    let (socket, client) = try Self.pair()
    defer { close(client) }
    let stream = try keychain.beginBackup(now: 1)
    guard case .tooSlow = BackupSending(backup: OutgoingBackup(stream), socket: socket, now: Self.hours().next).run()
    else {
      Issue.record("it was waited for")
      return
    }
    #expect(throws: VaultError.locked) {
      var bytes = [UInt8](repeating: 0, count: BackupStream.largestPart)
      var span = bytes.mutableSpan
      var room = unsafe span.mutableBytes
      _ = try stream.next(into: &room)
    }
    keychain.endBackup()
  }

  @Test("a client that confirms a backup byte by byte has no more time for that") func confirmation() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let keychain = try Self.vault(in: sandbox, RandomBytes.secret(count: 32), isLarge: false)
    let (socket, client) = try Self.pair()
    defer { close(client) }
    var zero: [UInt8] = [0]
    #expect(unsafe send(client, &zero, 1, 0) == 1)
    let stream = try keychain.beginBackup(now: 1)
    // Between two looks at the clock pass two thirds of the time that a confirmation has.
    let clock = Steps(Int64(Timeouts.confirmation) * 1_000_000 * 2 / 3)
    let sending = BackupSending(
      backup: OutgoingBackup(stream), socket: socket, now: clock.next, isConfirmed: true)
    guard case .unconfirmed(.silent, _) = sending.run() else {
      Issue.record("it was waited for")
      return
    }
    keychain.endBackup()
  }

  @Test("a client that does not send what is asked for is given up on, and leaves no vault") func restore() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let key = RandomBytes.secret(count: 32)
    let keychain = try Self.vault(in: sandbox, key)
    let stream = try keychain.beginBackup(now: 1)
    var bytes = [UInt8](repeating: 0, count: BackupStream.largestPart)
    var span = bytes.mutableSpan
    var room = unsafe span.mutableBytes
    let count = try stream.next(into: &room)
    let header = try BackupHeader(decoding: room.bytes.extracting(first: count))
    keychain.endBackup()
    let (socket, client) = try Self.pair()
    defer { close(client) }
    let directory = sandbox.home + "/restored"
    let bootKey = NewBootKey(key: RandomBytes.secret(count: 32), file: nil, sealed: nil)
    let incoming = IncomingVault(header, Handover(key), bootKey, in: directory)
    let receiving = BackupReceiving(incoming, socket: socket, now: Self.hours().next)
    guard case .broken(.tooSlow) = receiving.run() else {
      Issue.record("it was waited for")
      return
    }
    #expect(throws: VaultError.noVault) { _ = try Keychain(opening: directory) }
  }
}
