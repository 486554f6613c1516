import CSodium
import Foundation

/// An Ed25519 key pair that a test adds to an ssh-agent or uses as a host's.
struct SSHTestKey {
  let seed: [UInt8]
  let publicKey: [UInt8]
  private let secret: [UInt8]
  var blob: [UInt8] { .string("ssh-ed25519") + .string(publicKey) }

  init(_ seed: [UInt8]) {
    var (publicKey, secret) = ([UInt8].zeros(32), [UInt8].zeros(64))
    precondition(seed.count == 32 && sodium_init() >= 0)
    unsafe crypto_sign_seed_keypair(&publicKey, &secret, seed)
    (self.seed, self.publicKey, self.secret) = (seed, publicKey, secret)
  }

  /// The key whose seed is 32 times this byte.
  init(_ byte: UInt8 = 0) { self.init([UInt8](repeating: byte, count: 32)) }

  func signature(of data: [UInt8]) -> [UInt8] {
    var bytes = [UInt8].zeros(64)
    unsafe crypto_sign_detached(&bytes, nil, data, UInt64(data.count), secret)
    return .string("ssh-ed25519") + .string(bytes)
  }

  /// The request that adds the key, with the bytes of its constraints.
  func adding(_ comment: String = "key", constraints: [UInt8] = []) -> [UInt8] {
    let type: UInt8 = constraints.isEmpty ? 0x11 : 0x19
    let keys: [UInt8] = .string("ssh-ed25519") + .string(publicKey) + .string(seed + publicKey)
    return [type] + keys + .string(comment) + constraints
  }

  /// The fingerprint of a public key as OpenSSH shows it.
  static func fingerprint(_ blob: [UInt8]) -> String {
    "SHA256:" + Data(sha256(blob)).base64EncodedString().trimmingCharacters(in: ["="])
  }

  static func sha256(_ data: [UInt8]) -> [UInt8] {
    var hash = [UInt8].zeros(32)
    unsafe crypto_hash_sha256(&hash, data, UInt64(data.count))
    return hash
  }
}
