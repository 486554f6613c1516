import Testing
import VaultCore
import VaultModel
import VaultSigning

@Suite("Signatures in SSH's form") struct SSHSignatureTests {
  private static let message = Array("a message".utf8)

  private func isRight(_ signature: [UInt8], _ key: PublicKey) -> Bool {
    key.verifies(sshSignature: unsafe signature.span.bytes, of: unsafe Self.message.span.bytes)
  }

  /// Returns the algorithm's name, with which a signature begins.
  private func name(_ signature: [UInt8]) -> String {
    String(decoding: signature.dropFirst(4).prefix(Int(signature[3])), as: UTF8.self)
  }

  @Test("They have the key's name, but RSA's the one that the flags ask for, and SHA-1 never is it") func names() throws
  {
    for type in KeyType.allCases where type != .rsa {
      let key = try Examples.key(type)
      for flags: UInt32 in [0, 2, 4, 6] {
        let signature = try key.sshSignature(of: unsafe Self.message.span.bytes, flags: flags)
        #expect(name(signature) == key.publicKey.sshName && isRight(signature, key.publicKey))
      }
      #expect(throws: SigningError.self) { try key.sshSignature(of: unsafe Self.message.span.bytes, flags: 1) }
    }
    let rsa = try Examples.key(.rsa)
    for (flags, expected) in [(2, "rsa-sha2-256"), (4, "rsa-sha2-512"), (6, "rsa-sha2-256")] as [(UInt32, String)] {
      let signature = try rsa.sshSignature(of: unsafe Self.message.span.bytes, flags: flags)
      #expect(name(signature) == expected && isRight(signature, rsa.publicKey))
      // The same signature bytes under the old name.
      let old = [0, 0, 0, 7] + Array("ssh-rsa".utf8) + signature.dropFirst(16)
      #expect(!isRight(old, rsa.publicKey))
    }
    for flags: UInt32 in [0, 1, 3, 8, .max] {
      #expect(throws: SigningError.self) { try rsa.sshSignature(of: unsafe Self.message.span.bytes, flags: flags) }
    }
  }

  @Test("One that is cut off, goes on, or has a flipped bit is wrong", arguments: KeyType.allCases)
  func changed(type: KeyType) throws {
    let key = try Examples.key(type)
    let right = try key.sshSignature(of: unsafe Self.message.span.bytes, flags: type == .rsa ? 4 : 0)
    for count in right.indices { #expect(!isRight(Array(right.prefix(count)), key.publicKey)) }
    for bit in stride(from: 0, to: 8 * right.count, by: type == .rsa ? 31 : 3) {
      #expect(!isRight(right.flipping(bit: bit), key.publicKey), "\(bit)")
    }
    #expect(!isRight(right + [0], key.publicKey))
    #expect(!isRight(right, try Examples.key(type == .p256 ? .p384 : .p256).publicKey))
  }
}
