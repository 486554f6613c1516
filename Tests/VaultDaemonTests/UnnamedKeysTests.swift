import Testing
import VaultCore

@testable import VaultDaemon
@testable import VaultStore

@Suite("Keys beside the store that no slot names") struct UnnamedKeysTests {
  @Test("they stay while a slot that may name them cannot be read, and go otherwise") func damagedSlot() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    let left = try stand.on { client -> [Int] in
      let service = client.service
      guard case .open(let keychain) = service.vault.content, keychain.isVerified else { return [] }
      let files = FileKeystore(directory: service.paths.store)
      try files.store(RandomBytes.secret(count: 32), FileKeystore.newLocator())
      service.earlierKeys = files.stored()
      var left: [Int] = []
      // Of a later program's, say: the check has found it as it was written.
      for damaged: [UInt32] in [[2], []] {
        keychain.damagedSlots = damaged
        service.dropUnnamedKeys(keychain)
        left.append(service.earlierKeys.count)
      }
      return left
    }
    #expect(left == [1, 0])
    try stand.goRound("the key to go") { FileKeystore(directory: $0.service.paths.store).stored().isEmpty }
  }
}
