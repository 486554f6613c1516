internal import VaultBytes
public import VaultModel

/// An ECDSA signature in both of its forms: r followed by s (RFC 7518 section 3.4), and the DER of Ecdsa-Sig-Value (RFC
/// 3279 section 2.2.3), which TLS, X.509 and OpenSSL use.
public struct ECDSASignature: Hashable, Sendable {
  /// The numbers r and s, big-endian, each as long as a coordinate of the curve.
  public let bytes: [UInt8]

  /// Takes r followed by s; nil for another length than the type's, or for a type without ECDSA.
  public init?(_ bytes: [UInt8], _ type: KeyType) {
    guard case .curve(let curve) = type.facts.family, bytes.count == 2 * curve.count else { return nil }
    self.bytes = bytes
  }

  /// Reads DER; nil for any form but the only one that DER allows, for a number that is 0 or longer than the type's,
  /// and for bytes after the end.
  public init?(der: [UInt8], _ type: KeyType) {
    guard case .curve(let curve) = type.facts.family else { return nil }
    let der = unsafe der.span.bytes  // Bytes have no padding.
    var whole = DERCursor(der.byteOffsets)
    guard let sequence = whole.take(DERTag.sequence, in: der), whole.isAtEnd else { return nil }
    var numbers = DERCursor(sequence.content)
    guard let r = numbers.takeUnsigned(in: der), let s = numbers.takeUnsigned(in: der), numbers.isAtEnd else {
      return nil
    }
    self.init(der.array(r), der.array(s), curve)
  }

  /// Takes two numbers of any length without leading zeros.
  init?(_ r: [UInt8], _ s: [UInt8], _ curve: Curve) {
    guard (1...curve.count).contains(r.count), (1...curve.count).contains(s.count) else { return nil }
    bytes = [r, s].flatMap { [UInt8](repeating: 0, count: curve.count - $0.count) + $0 }
  }

  /// The first number, big-endian.
  public var r: [UInt8] { Array(bytes.prefix(bytes.count / 2)) }
  /// The second number, big-endian.
  public var s: [UInt8] { Array(bytes.suffix(bytes.count / 2)) }

  /// The DER encoding.
  public var der: [UInt8] { DER.element(DERTag.sequence, DER.unsigned(r) + DER.unsigned(s)) }
}
