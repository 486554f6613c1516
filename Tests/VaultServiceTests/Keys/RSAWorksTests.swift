import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultTesting

@testable import VaultService

@Suite("Work with large RSA keys") struct RSAWorksTests {
  private let stand: RoomStand
  /// The users whose turn has come, or whose work is done, in that order.
  private let called = RoomStand.Shared<[UInt32]>([])

  init() throws { stand = try RoomStand.unlocked() }

  private func order(_ user: UInt32) -> RSAOrder {
    RSAOrder(stand.items.rsa, of: user) { [called] in called.value.append(user) }
  }

  private func check(_ order: RSAOrder) throws -> [UInt8]? {
    order.begin()
    defer { order.end() }
    return try order.ask(.check(key: [7])) { nil }?.bytes.withBytes { $0.array }
  }

  private func make(_ order: RSAOrder) throws -> Bool {
    order.begin()
    defer { order.end() }
    return try order.ask(.make(bits: 3072, comment: nil)) { nil } != nil
  }

  @Test("is done one at a time, users in turns, however much one asks for") func turns() throws {
    let first = (0..<3).map { _ in order(1) }
    let second = order(2)
    for order in first + [second] { #expect(try check(order) == nil) }
    #expect(stand.rsa.asked.count == 1 && called.value.isEmpty)
    stand.rsa.answer([9])
    // The first work is done, and the next call of the user who has waited longest may begin.
    #expect(called.value == [1, 1])
    #expect(try check(first[0]) == [9])
    #expect(try check(first[1]) == nil && stand.rsa.asked.count == 1)
    stand.rsa.answer()
    #expect(called.value == [1, 1, 1, 2])
    // A call that ends before its key is used keeps nobody waiting.
    second.begin()
    second.end()
    #expect(called.value == [1, 1, 1, 2, 1])
    #expect(try check(first[2]) == nil && check(first[1]) == [1])
  }

  @Test("is not begun for a key that a lock keeps from being stored") func locked() throws {
    let change = ItemChange(name: try ItemName("new"), kind: .blob, use: .sign)
    let caller = stand.administrator
    func ask() throws -> LargeKey? {
      try stand.items.largeKey(change, .generated(.key(.rsa4096)), for: caller) { _ in false }
    }
    #expect(try ask() != nil)
    stand.vault.lock(because: .asked)
    #expect(throws: stand.vault.locked) { try ask() }
  }

  @Test("ends with the call, and the next one begins when the process is gone") func left() throws {
    var gone: RSAOrder? = order(1)
    let next = order(2)
    #expect(try check(gone!) == nil && check(next) == nil)
    gone = nil
    #expect(stand.rsa.ended == 1 && called.value.isEmpty)
    stand.rsa.asked[0].gone()
    #expect(called.value == [2])
    #expect(try check(next) == nil && stand.rsa.asked.count == 2)
    // A late answer of the first process goes nowhere.
    stand.rsa.asked[0].answer(.success(SecretBox(RoomStand.secret([1]))))
    #expect(try check(next) == nil)
  }

  private static let silence = "vault-rsa did not answer within 60 s and was ended"

  @Test("that is not done in time is refused for now, is told in the log, and keeps nobody waiting") func unanswered()
    throws
  {
    let (first, next) = (order(1), order(2))
    #expect(try check(first) == nil && check(next) == nil)
    let process = stand.rsa.asked[0]
    process.answer(.failure(.unanswered(Self.silence)))
    process.gone()
    #expect(throws: Refusal.interrupted(Self.silence)) { _ = try check(first) }
    #expect(stand.journal.value.count { $0.hasSuffix(Self.silence) } == 1)
    #expect(called.value == [1, 2])
    #expect(try check(next) == nil && stand.rsa.asked.count == 2)
  }

  @Test("for a signature that is not made in time is refused for now as well, and a second call has it made")
  func unansweredSignature() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let made = try sandbox.run(
      ["genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"], program: "/usr/bin/openssl")
    let text = Array(made.output.utf8)
    let name = try ItemName("key")
    let change = ItemChange(name: name, kind: .blob, use: .sign)
    _ = try stand.items.set(change, .bytes(count: text.count), for: stand.administrator) { bytes in
      for (index, byte) in text.enumerated() { bytes.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
      return true
    }
    func sign(_ order: RSAOrder) throws -> Wait? {
      let reading = Reading(name, for: stand.administrator)
      return try stand.items.sign(reading, RoomStand.secret([1]), nil, order) { _ in }
    }
    let order = stand.items.rsaOrder(for: stand.administrator)
    #expect(try sign(order) != nil)
    let process = stand.rsa.asked[0]
    process.answer(.failure(.unanswered(Self.silence)))
    process.gone()
    #expect(throws: Refusal.interrupted(Self.silence)) { _ = try sign(order) }
    let next = stand.items.rsaOrder(for: stand.administrator)
    #expect(try sign(next) != nil && stand.rsa.asked.count == 2)
  }

  @Test("ends at a lock, and so does what waits with a key") func lock() throws {
    let (running, waiting, making) = (order(1), order(2), order(1))
    #expect(try check(running) == nil && check(waiting) == nil && !make(making))
    #expect(stand.rsa.asked.count == 2)
    stand.vault.lock(because: .asked)
    #expect(stand.rsa.ended == 2 && Set(called.value) == [1, 2])
    for order in [running, waiting] { #expect(throws: Refusal.self) { _ = try check(order) } }
    #expect(throws: Refusal.self) { _ = try make(making) }
    for asked in stand.rsa.asked { asked.gone() }
    #expect(stand.rsa.asked.count == 2)
  }

  @Test("a key that was made and not fetched yet goes with a lock") func fetched() throws {
    let making = order(1)
    #expect(try !make(making))
    stand.rsa.answer([1, 2, 3])
    #expect(called.value == [1])
    stand.vault.lock(because: .asked)
    #expect(throws: Refusal.self) { _ = try make(making) }
  }

  @Test("of new keys each user has one made at a time, and the line has an end") func newKeys() throws {
    let most = UInt32(RSAWorks.longestQueue)
    let orders = (0...most).map { order($0) }
    for order in orders { #expect(try !make(order)) }
    for user in [0, 1, most + 1] {
      #expect(throws: Refusal.self, "\(user)") { _ = try make(order(user)) }
    }
    // A signature does not wait for a key that is being made.
    #expect(try check(order(0)) == nil)
    #expect(stand.rsa.asked.count == 2)
  }

  @Test("a user's next new key waits until the process that made the last one is gone, and is not refused")
  func nextKey() throws {
    let (first, next) = (order(1), order(1))
    #expect(try !make(first))
    let process = stand.rsa.asked[0]
    process.answer(.success(SecretBox(RoomStand.secret([1]))))
    #expect(try make(first))
    #expect(try !make(next))
    #expect(stand.rsa.asked.count == 1)
    process.gone()
    #expect(called.value == [1, 1])
    #expect(try !make(next))
    #expect(stand.rsa.asked.count == 2)
  }
}
