import Testing
import VaultTesting

@Suite("Large RSA keys") struct LargeKeyTests {
  @Test("one that somebody else made is stored once its numbers have made a signature") func checked() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let good = try sandbox.run(
      ["genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"], program: "/usr/bin/openssl")
    try #require(good.status == 0, "\(good)")
    #expect(try sandbox.run(["set", "key", "--use", "sign"], stdin: good.stdout).status == 0)
    #expect(try sandbox.must(["show", "key"]).contains("rsa of 3072 bits"))
    let file = try sandbox.write("a message", to: "message")
    #expect(try sandbox.run(["sign", "key", file]).stdout.count == 384)
  }
}
