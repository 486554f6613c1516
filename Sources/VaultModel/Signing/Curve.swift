/// The NIST curves over prime fields (FIPS 186-4 appendix D.1.2). All that sets them apart is in their ``facts``.
public enum Curve: CaseIterable, Sendable {
  case p256, p384, p521

  /// The data in which the curves differ.
  public struct Facts: Sendable {
    /// The type of the keys on the curve.
    public let type: KeyType
    /// The size of the field in bits.
    public let bits: Int
    /// The name in JOSE (RFC 7518 section 6.2.1.1).
    public let joseName: String
    /// The name in SSH (RFC 5656 section 10.1).
    public let sshName: String
    /// The contents octets of the object identifier (RFC 5480 section 2.1.1.1).
    public let identifier: [UInt8]
  }

  public var facts: Facts {
    switch self {
    case .p256:
      Facts(
        type: .p256, bits: 256, joseName: "P-256", sshName: "nistp256",
        identifier: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
    case .p384:
      Facts(
        type: .p384, bits: 384, joseName: "P-384", sshName: "nistp384", identifier: [0x2B, 0x81, 0x04, 0x00, 0x22])
    case .p521:
      Facts(
        type: .p521, bits: 521, joseName: "P-521", sshName: "nistp521", identifier: [0x2B, 0x81, 0x04, 0x00, 0x23])
    }
  }

  /// The type of the keys on the curve.
  public var type: KeyType { facts.type }
  /// The size in bytes of a coordinate, of a private scalar and of each half of a signature.
  public var count: Int { (facts.bits + 7) / 8 }
  /// The size in bytes of an uncompressed point: 4, x and y.
  public var pointCount: Int { 1 + 2 * count }
}
