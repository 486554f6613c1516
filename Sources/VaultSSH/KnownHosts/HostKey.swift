/// The key by which a host proves itself: a plain key, or a certificate for one.
public struct HostKey: Hashable, Sendable {
  /// The blob of the plain key; for a certificate, of the key in it. A blob of an unknown type is left as it is.
  public let plain: [UInt8]
  /// True for a certificate, valid or not.
  public let isCertificate: Bool
  /// The certificate, if its authority has signed it.
  public let certificate: HostCertificate?

  /// - Parameter blob: The blob of the key or of the certificate.
  public init(_ blob: [UInt8]) {
    plain = (try? KeyBlob.plain(blob)) ?? blob
    isCertificate = KeyBlob.isCertificate(blob)
    certificate = HostCertificate(blob)
  }
}
