import Testing
import VaultCore
import VaultModel
import VaultSigning

@Suite("New keys") struct NewKeyTests {
  @Test(
    "are read by both programs in both forms, and no two are the same",
    arguments: [NewKey.Kind.ed25519, .p256, .p384, .p521, .rsa(bits: 3072)])
  func made(kind: NewKey.Kind) throws {
    let workshop = try Workshop()
    let pem = text(try NewKey.make(kind))
    #expect(text(try NewKey.make(kind)) != pem)
    let key = try privateKey(pem)
    try workshop.write(pem.utf8, "key")
    try workshop.run("openssl pkey -in key -check -noout")
    try workshop.write(text(key.openSSHPrivate(comment: "new")).utf8, "openssh")
    #expect(try workshop.run("ssh-keygen -y -f openssh") == key.publicKey.openSSH(comment: "new") + "\n")
    for scheme in key.type.schemes {
      #expect(key.publicKey.verifies(try key.sign([7], scheme), of: [7], scheme))
    }
    if case .rsa(let bits) = kind { #expect(key.publicKey.bitCount == bits) }
  }

  @Test("of RSA have 3072 bits at least, and 8192 at most") func sizes() throws {
    for bits in [0, 2048, 3071, 8193] { #expect(throws: SigningError.self) { _ = try NewKey.make(.rsa(bits: bits)) } }
  }

  @Test("lie in memory that is locked, where there is room") func locked() throws {
    _ = try NewKey.make(.rsa(bits: 3072))
    #expect(SigningMemory.isLocked == true)
  }
}
