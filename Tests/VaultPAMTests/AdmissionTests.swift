import Testing
import VaultWire

@testable import VaultPAM

@Suite("Who may have whom authenticated") struct AdmissionTests {
  private func refused(_ service: String = "vault", uid: UInt32, peer: UInt32, own: UInt32, vault: UInt32? = 990)
    -> Bool
  {
    Admission.refusal(of: .init(service: service, uid: uid), peer: peer, own: own, vault: vault) != nil
  }

  @Test("root serves root and the vault's own account, for any user") func root() {
    #expect(!refused(uid: 1000, peer: 0, own: 0))
    #expect(!refused(uid: 1000, peer: 990, own: 0))
    #expect(refused(uid: 1000, peer: 1000, own: 0))
    #expect(refused(uid: 0, peer: 1000, own: 0))
    #expect(refused(uid: 1000, peer: 990, own: 0, vault: nil))
  }

  @Test("a user serves itself and root, for itself") func user() {
    #expect(!refused(uid: 1000, peer: 1000, own: 1000))
    #expect(!refused(uid: 1000, peer: 0, own: 1000))
    #expect(refused(uid: 1001, peer: 1000, own: 1000))
    #expect(refused(uid: 0, peer: 1000, own: 1000))
    #expect(refused(uid: 1000, peer: 1001, own: 1000))
    #expect(refused(uid: 1000, peer: 990, own: 1000))
  }

  @Test("a service is one of ours, and no path") func services() {
    for name in ["vault", "vault-biometry", "vault-test-0"] { #expect(PresenceWire.isService(name), "\(name)") }
    let long = "vault-" + String(repeating: "x", count: 59)
    #expect(PresenceWire.isService(String(long.dropLast())))
    for name in [
      "", "login", "other", "Vault", "vaults", "vault2", "vault/../login", "vault.d", "vault ", "vault\0", "våult",
      "vaultæ", long,
    ] {
      #expect(!PresenceWire.isService(name), "\(name)")
      #expect(refused(name, uid: 0, peer: 0, own: 0))
    }
  }
}
