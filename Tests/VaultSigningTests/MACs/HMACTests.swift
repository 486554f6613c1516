import Testing
import VaultCore
import VaultSigning

@Suite("HMAC") struct HMACTests {
  private func code(_ message: String, _ key: [UInt8], _ hash: HMAC.Hash) throws -> String {
    let message = Array(message.utf8)
    return try unsafe HMAC.withCode(of: message.span.bytes, key: secret(key), hash) { hex($0) }
  }

  @Test(
    "gives the codes of RFC 2202 and RFC 4231, for short keys and for such that are hashed first",
    arguments: [
      (HMAC.Hash.sha1, 20, "b617318655057264e28bc0b6fb378c8ef146be00", 80, "aa4ae5e15272d00e95705637ce8a3b55ed402112"),
      (
        .sha256, 20, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", 131,
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
      (
        .sha512, 20,
        "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
          + "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854",
        131,
        "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
          + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"
      ),
    ])
  func vectors(hash: HMAC.Hash, short: Int, first: String, long: Int, second: String) throws {
    #expect(try code("Hi There", [UInt8](repeating: 0x0B, count: short), hash) == first)
    let text = "Test Using Larger Than Block-Size Key - Hash Key First"
    #expect(try code(text, [UInt8](repeating: 0xAA, count: long), hash) == second)
  }

  @Test("takes an empty message, and tells keys apart that differ in one bit") func edges() throws {
    for hash in HMAC.Hash.allCases {
      let code = try code("", [1], hash)
      #expect(try code != self.code("", [0], hash))
    }
    #expect(try code("", [0], .sha1) == "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d")
  }

  @Test("a code is right as a whole alone: not with a flipped bit, not in part, not with more behind it")
  func verification() throws {
    let message = Array("Hi There".utf8)
    let key = secret([UInt8](repeating: 0x0B, count: 20))
    for hash in HMAC.Hash.allCases {
      let code = try unsafe HMAC.withCode(of: message.span.bytes, key: key, hash) { array($0) }
      func isRight(_ code: [UInt8]) throws -> Bool {
        try unsafe HMAC.verifies(code.span.bytes, of: message.span.bytes, key: key, hash)
      }
      #expect(try isRight(code))
      for bit in 0..<8 * code.count { #expect(try !isRight(code.flipping(bit: bit))) }
      for wrong in [[], Array(code.dropLast()), code + [0]] { #expect(try !isRight(wrong)) }
    }
  }
}
