import Testing
import VaultCore

@testable import VaultDaemon
@testable import VaultService
@testable import VaultStore

@Suite("Keys beside the store that no slot names") struct UnnamedKeysTests {
  @Test("they stay while a slot that may name them cannot be read, and go otherwise") func damagedSlot() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    let left = try stand.on { client -> [Int] in
      let ways = client.assembly.rooms.waysIn
      let keychain = try client.vault.keychain()
      guard keychain.isVerified else { return [] }
      let files = FileKeystore(directory: client.vault.directory)
      try files.store(RandomBytes.secret(count: 32), FileKeystore.newLocator())
      ways.earlierKeys = files.stored()
      var left: [Int] = []
      // The damaged slot could be one of a later program, which the check found to be as it was written.
      for damaged: [UInt32] in [[2], []] {
        keychain.damagedSlots = damaged
        ways.dropUnnamedKeys(keychain)
        left.append(ways.earlierKeys.count)
      }
      return left
    }
    #expect(left == [1, 0])
    try stand.goRound("the key to go") { FileKeystore(directory: $0.vault.directory).stored().isEmpty }
  }
}
