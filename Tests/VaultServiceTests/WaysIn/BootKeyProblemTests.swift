import Testing
import VaultCore
import VaultModel

@testable import VaultService

@Suite("The reason why the `always` items are not served") struct BootKeyProblemTests {
  @Test("goes when a boot key is found after all") func found() {
    var vault = OpenStore(directory: "/nowhere")
    #expect(vault.bootKeyProblem == nil)
    vault.openAlways(.failure(KeystoreError(.notFound, "there is none")), from: .file("/boot.key"))
    #expect(vault.bootKeyProblem == "there is none")
    vault.openAlways(.success(RandomBytes.secret(count: 32)), from: .file("/boot.key"))
    #expect(vault.bootKeyProblem == nil)
  }

  @Test("blames the key only if the key does not open them") func blamed() throws {
    let stand = try RoomStand.unlocked()
    let bootKey = BootKey.file("/boot.key")
    stand.vault.store.openAlways(.success(RandomBytes.secret(count: 32)), from: bootKey)
    #expect(stand.vault.store.bootKeyProblem == "the boot key at /boot.key is not this vault's")
    try stand.edit("DELETE FROM keys WHERE name = 'always.boot'")
    stand.vault.store.openAlways(.success(RandomBytes.secret(count: 32)), from: bootKey)
    #expect(stand.vault.store.bootKeyProblem?.contains("the key always.boot is missing") == true)
    #expect(stand.vault.store.bootKeyProblem?.contains("/boot.key") == false)
  }
}
