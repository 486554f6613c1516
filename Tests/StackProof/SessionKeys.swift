import VaultBytes
import VaultCore
import VaultSigning

/// The secret numbers of a session of the Secret Service, which must not stay on the stack, and the calls that use
/// them.
struct SessionKeys {
  private let exponent: [UInt8]
  /// The secret numbers by name. The exponent and the shared secret are big-endian, and in the order in which a
  /// processor's words hold them.
  let keys: [(String, [UInt8])]

  /// The peer's public key is the generator, so that the shared secret is this side's public key.
  private static let peerKey: [UInt8] = [2]

  init(exponent: [UInt8]) throws {
    self.exponent = exponent
    let shared = try Self.session(exponent).publicKey
    let key = try HKDF.derive(count: 16, from: shared.withSpan { SecureBytes(copying: $0) })
    keys = [
      ("exponent in words", exponent.reversed()), ("shared secret", shared),
      ("shared secret in words", shared.reversed()), ("session key", key.withBytes { $0.array }),
    ]
  }

  private static func session(_ exponent: [UInt8]) throws -> SecretSession {
    let exponent = exponent.withSpan { SecureBytes(copying: $0) }
    return try peerKey.withSpan { (peerKey: RawSpan) throws(SecretSessionError) in
      try SecretSession.agree(with: peerKey, exponent: exponent)
    }
  }

  /// Opening a session, and handing over a secret in it in both directions.
  func calls(_ message: [UInt8]) -> [(name: String, call: () -> Void)] {
    let exponent = exponent
    return [
      ("agree", { _ = try? Self.session(exponent) }),
      (
        "encode and decode",
        {
          guard let session = try? Self.session(exponent) else { return }
          var value = SecureBytes(count: session.encodedCount(message.count))
          let parameters = value.withMutableBytes { room in
            message.withSpan { try? session.encode($0, into: &room) }
          }
          value.withBytes { value in
            parameters?.withSpan { _ = try? session.decode(parameters: $0, value: value) }
          }
        }
      ),
    ]
  }
}
