import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("Readings that a rekey overtakes") struct RekeyReadingTests {
  /// Runs a rekey, between whose steps a user without any right searches, and begins all readings after so many steps.
  /// Then reads the rest of each with the new keys.
  ///
  /// - Parameter closed: the vault, of which a copy is rekeyed.
  /// - Returns: false if the rekey has fewer steps.
  private static func goOn(after step: Int, of closed: RoomStand) throws -> Bool {
    let rooms = try closed.afterKill()
    defer { rooms.end() }
    rooms.hands.pass(seconds: 61)
    rooms.run()
    let (keychain, stranger) = (try rooms.vault.keychain(), RoomStand.caller(4711))
    let old = keychain.publicKey
    var readings: [(HalfReading, () throws -> Bool)] = []
    var steps = 0
    try rooms.beginRekey()
    while rooms.rooms.upkeep.rekeyProgress != nil {
      if steps == step { for one in HalfReading.allCases { readings.append((one, try one.begin(rooms))) } }
      try rooms.items.begin(search: "number=\(steps)", for: stranger)
      rooms.stepRekey()
      steps += 1
      try #require(steps < 300, "the rekey does not end")
    }
    guard !readings.isEmpty else { return false }
    #expect(keychain.publicKey != old && rooms.vault.state.kind == .unlocked, "after step \(step)")
    for (reading, isWhole) in readings { #expect(try isWhole(), "\(reading) begun after step \(step)") }
    return true
  }

  @Test("go on in the new store, whenever they began, and return everything once") func steps() throws {
    let closed = try HalfReading.stand()
    closed.end()
    // Every third step: each run makes a whole rekey.
    var step = 0
    while try Self.goOn(after: step, of: closed) { step += 3 }
    #expect(step > 5)
  }
}
