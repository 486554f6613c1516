import Testing
import VaultCore
import VaultKeystore

@testable import VaultDaemon

@Suite("The reason why the `always` items are not served") struct BootKeyProblemTests {
  @Test("goes when a boot key is found after all") func found() {
    var vault = OpenVault(directory: "/nowhere")
    #expect(vault.bootKeyProblem == nil)
    vault.openAlways(.failure(KeystoreError(.notFound, "there is none")), from: .file("/boot.key"))
    #expect(vault.bootKeyProblem == "there is none: `always` items are served only after an unlock")
    vault.openAlways(.success(RandomBytes.secret(count: 32)), from: .file("/boot.key"))
    #expect(vault.bootKeyProblem == nil)
  }
}
