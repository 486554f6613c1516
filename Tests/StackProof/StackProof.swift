import CSodium
import Glibc
import VaultBytes
import VaultCore
import VaultSigning

/// `stack-proof` searches a thread's stack for keys after each call that is given a key. It is a program of its own, so
/// that the calls can also be searched in optimized code. Each output line names a call and the keys that it left. The
/// first two lines show that the search finds keys: one call of libsodium itself leaves one, and one call copies each
/// key. With an argument it shows the life of a session instead; see ``SessionStages``.
@main
enum StackProof {
  static func main() throws {
    if CommandLine.arguments.count > 1 { try SessionStages.run() } else { for line in try lines() { print(line) } }
  }

  // This is not in main(), because closures there belong to the main actor.
  private static func lines() throws -> [String] {
    let key = RandomBytes.array(count: 32)
    let salt = [UInt8](repeating: 1, count: 16)
    let message = [UInt8](repeating: 7, count: 300)
    func secret() -> SecureBytes { unsafe SecureBytes(copying: key.span.bytes) }
    func array(_ bytes: borrowing SecureBytes) -> [UInt8] {
      bytes.withBytes { unsafe $0.withUnsafeBytes { unsafe Array($0) } }
    }

    let sealed = unsafe AEAD.seal(message.span.bytes, key: secret(), associatedData: salt)
    // XChaCha20 derives a separate key for each nonce.
    var perMessage = [UInt8](repeating: 0, count: 32)
    _ = unsafe crypto_core_hchacha20(&perMessage, sealed, key, nil)
    // HMAC (RFC 2104) hashes the key with one of two pads.
    let pads = [0x36, 0x5C].map { pad in ("pad", key.map { $0 ^ pad }) } as [(String, [UInt8])]
    // X25519 (RFC 7748 section 5) clears and sets bits of the key; the secret that both sides derive opens the message.
    var scalar = key
    (scalar[0], scalar[31]) = (scalar[0] & 248, scalar[31] & 127 | 64)
    let box = try unsafe SealedBox.seal(message.span.bytes, to: SealedBox.publicKey(of: secret()))
    var shared = [UInt8](repeating: 0, count: 32)
    _ = unsafe crypto_box_beforenm(&shared, box, key)
    let signing = try SigningKeys(seed: key)
    let session = try SessionKeys(exponent: key)
    let keys =
      [
        ("key", key), ("message key", perMessage), ("subkey", array(KDF.subkey(1, context: "a-test--", of: secret()))),
        ("root", array(try Argon2id.derive(secret(), salt: salt, parameters: .floor))),
        ("scalar", scalar), ("shared key", shared),
      ] + pads + signing.numbers + session.keys

    let calls: [(name: String, call: () -> Void)] =
      [
        (
          "libsodium",
          {
            var root = [UInt8](repeating: 0, count: 32)
            let password = key.map { CChar(bitPattern: $0) }
            _ = unsafe crypto_pwhash(&root, 32, password, 32, salt, 2, 19 << 20, crypto_pwhash_alg_argon2id13())
          }
        ),
        (
          "a copy",
          {
            // Only the first 16 bytes of each key: an allocation of more than 1024 bytes would not come from the stack.
            let beginnings = keys.flatMap { $0.1.prefix(16) }
            // The room above the copy is for the calls behind this one, which write over it.
            unsafe withUnsafeTemporaryAllocation(byteCount: beginnings.count + 448, alignment: 16) { copy in
              unsafe copy.copyBytes(from: beginnings)
              // The compiler cannot see into this call, so it must really make the copy.
              _ = unsafe sodium_is_zero(copy.baseAddress, copy.count)
            }
          }
        ),
        ("Argon2id", { _ = try? Argon2id.derive(secret(), salt: salt, parameters: .floor) }),
        ("KDF", { _ = KDF.subkey(1, context: "a-test--", of: secret()) }),
        ("AEAD seal", { _ = unsafe AEAD.seal(message.span.bytes, key: secret(), associatedData: salt) }),
        ("AEAD open", { _ = try? AEAD.open(unsafe sealed.span.bytes, key: secret(), associatedData: salt) }),
        (
          "AEAD refuse",
          { _ = try? AEAD.open(unsafe sealed.span.bytes, key: secret(), associatedData: unsafe message.span.bytes) }
        ),
        ("hash", { _ = unsafe KeyedHash.hash(message.span.bytes, key: secret(), count: 32) }),
        ("tag", { _ = Tag(domain: 1, "a name", key: secret()) }),
        (
          "stream",
          {
            var sealer = StreamSealer(key: secret())
            var room = [UInt8](repeating: 0, count: 400)
            var span = room.mutableSpan
            var out = unsafe span.mutableBytes
            _ = unsafe sealer.seal(message.span.bytes, isLast: true, associatedData: salt.span.bytes, into: &out)
          }
        ),
        ("public key", { _ = SealedBox.publicKey(of: secret()) }),
        ("sealed box", { _ = try? unsafe SealedBox.open(box.span.bytes, secretKey: secret()) }),
      ]
      + HMAC.Hash.allCases.map { hash in
        ("HMAC \(hash)", { _ = try? unsafe HMAC.withCode(of: message.span.bytes, key: secret(), hash) { _ in } })
      } + signing.calls(message) + session.calls(message)
    return calls.map { name, call in
      let stack = ThreadStack.copy(after: call)
      let left = keys.filter { ThreadStack.has($0.1, stack) }.map(\.0)
      return "\(name): \(left.isEmpty ? "nothing" : left.joined(separator: ", "))"
    }
  }
}
