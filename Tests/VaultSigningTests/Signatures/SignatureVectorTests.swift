import Testing
import VaultCore
import VaultModel
import VaultSigning

@Suite("Signatures by published vectors") struct SignatureVectorTests {
  @Test("Ed25519 signs as RFC 8032, section 7.1, does") func ed25519() throws {
    let all = try vectors("ed25519.txt")
    try #require(all.count == 5)
    for vector in all {
      let seed = hex(vector["seed"]!)
      // RFC 8410 section 7.
      let key = try privateKey(pem("PRIVATE KEY", hex("302e020100300506032b657004220420") + seed))
      let message = hex(vector["message"]!)
      let signature = hex(vector["signature"]!)
      #expect(key.publicKey.sshBlob.suffix(32) == hex(vector["key"]!)[...])
      #expect(try key.sign(message, .ed25519) == signature)
      #expect(key.publicKey.verifies(signature, of: message, .ed25519))
    }
  }

  @Test("ECDSA signs as RFC 6979, appendices A.2.5 to A.2.7, does, each curve with its hash") func ecdsa() throws {
    let all = try vectors("rfc6979.txt")
    try #require(all.count == 6)
    for vector in all {
      let curve = try #require(ExampleCurve(rawValue: vector["curve"]!))
      let key = try privateKey(curve.pem(hex(vector["scalar"]!)))
      let message = hex(vector["message"]!)
      let signature = hex(vector["signature"]!)
      #expect(try key.sign(message, curve.scheme) == signature)
      #expect(key.publicKey.verifies(signature, of: message, curve.scheme))
    }
  }

  @Test("ECDSA tells right from wrong as NIST's CAVS 11.0 does") func ecdsaChecks() throws {
    let all = try vectors("ecdsa-sigver.txt")
    try #require(all.count == 45 && all.contains { $0["result"] == "P" })
    for vector in all {
      let curve = try #require(ExampleCurve(rawValue: vector["curve"]!))
      // Some of the changed keys are no points on the curve.
      let key = try? PublicKey(spki: unsafe curve.spki(hex(vector["key"]!)).span.bytes)
      let isRight = key?.verifies(hex(vector["signature"]!), of: hex(vector["message"]!), curve.scheme) ?? false
      #expect(isRight == (vector["result"] == "P"), "\(vector)")
    }
  }

  @Test("PKCS #1 tells right from wrong as NIST's CAVS 11.0 does") func rsaChecks() throws {
    let all = try vectors("rsa-pkcs1-sigver.txt")
    try #require(all.count == 48 && all.count { $0["result"] == "P" } == 12)
    let schemes: [String: SignatureScheme] = ["256": .rsaPKCS1SHA256, "384": .rsaPKCS1SHA384, "512": .rsaPKCS1SHA512]
    for vector in all {
      let key = try rsaKey(modulus: hex(vector["modulus"]!), exponent: hex(vector["exponent"]!))
      let isRight = key.verifies(
        hex(vector["signature"]!), of: hex(vector["message"]!), schemes[vector["hash"]!]!)
      #expect(isRight == (vector["result"] == "P"), "\(vector)")
    }
  }

  @Test("PSS wants a salt as long as the digest: NIST's, which have 10 bytes of it, are refused") func salts() throws {
    let all = try vectors("rsa-pss-salt.txt")
    try #require(all.count == 9)
    let schemes: [String: SignatureScheme] = ["256": .rsaPSSSHA256, "384": .rsaPSSSHA384, "512": .rsaPSSSHA512]
    for vector in all {
      let key = try rsaKey(modulus: hex(vector["modulus"]!), exponent: hex(vector["exponent"]!))
      #expect(!key.verifies(hex(vector["signature"]!), of: hex(vector["message"]!), schemes[vector["hash"]!]!))
    }
  }
}
