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
}
