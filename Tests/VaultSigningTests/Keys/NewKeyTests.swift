import Testing
import VaultCore
import VaultModel
import VaultSigning

@Suite("New keys") struct NewKeyTests {
  @Test(
    "are read by both programs in both forms, and no two are the same",
    arguments: KeyType.allCases)
  func made(type: KeyType) throws {
    let workshop = try Workshop()
    let pem = text(try NewKey.key(type).pkcs8())
    #expect(text(try NewKey.key(type).pkcs8()) != pem)
    let key = try privateKey(pem)
    try workshop.write(pem.utf8, "key")
    try workshop.run("openssl pkey -in key -check -noout")
    try workshop.write(text(key.openSSHPrivate(comment: "new")).utf8, "openssh")
    #expect(try workshop.run("ssh-keygen -y -f openssh") == key.publicKey.openSSH(comment: "new") + "\n")
    for scheme in key.type.schemes {
      let signature = try key.sign([7], scheme)
      #expect(key.publicKey.verifies(signature, of: [7], scheme))
      #expect(scheme.facts.signatureCounts.contains(signature.count))
    }
    #expect(key.type == type && key.publicKey.bitCount == (type == .rsa ? 3072 : type.facts.sizes.lowerBound))
  }

  @Test("of RSA have 3072 bits at least, and 8192 at most") func sizes() throws {
    for bits in [0, 2048, 3071, 8193] {
      #expect(throws: SigningError.self) { _ = try NewKey.key(.rsa, bits: bits) }
    }
  }

  @Test("lie in memory that is locked, where there is room") func locked() throws {
    _ = try NewKey.key(.rsa, bits: 3072)
    #expect(SigningMemory.isLocked == true)
  }
}
