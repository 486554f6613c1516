internal import VaultCore
public import VaultModel

/// The facts about a private key that are known without computing with it.
public struct KeyOutline: Hashable, Sendable {
  public let type: KeyType
  /// The value of ``PublicKey/isLarge``.
  public let isLarge: Bool

  /// Reads the only private key of a PEM text as far as its type; nil if there is no key that ``PrivateKey`` would
  /// accept. The numbers may still be wrong.
  public init?(ofPEM text: RawSpan) {
    guard text.byteCount <= ItemKind.tlsKey.longest else { return nil }
    defer { Stack.wipe() }
    guard let found = Self.find(in: text) else { return nil }
    self = found
  }

  /// Reads the public half in SSH's form; nil for an unsupported type.
  public init?(ofSSHBlob blob: RawSpan) {
    guard let type = PublicKey.type(ofSSHBlob: blob) else { return nil }
    self.init(type, bits: PublicKey.rsaBits(ofSSHBlob: blob) ?? 0)
  }

  private init(_ type: KeyType, bits: Int) {
    self.type = type
    isLarge = bits > type.facts.mostBitsAtOnce
  }

  /// Runs in a frame of its own, so that all its traces lie below the frame that wipes them.
  @inline(never)
  private static func find(in text: RawSpan) -> KeyOutline? {
    guard let (form, block) = try? PrivateKeyForm.find(in: text) else { return nil }
    return try? block.withKey(in: text) { (bytes: RawSpan) throws(KeyError) in
      switch try form.parts(bytes).secret {
      case .ed25519: KeyOutline(.ed25519, bits: 0)
      case .curve(let curve, _): KeyOutline(curve.type, bits: 0)
      case .rsa(let numbers): KeyOutline(.rsa, bits: 8 * numbers.modulus.count)
      }
    }
  }
}
