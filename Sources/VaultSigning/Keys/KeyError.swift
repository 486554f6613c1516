/// The reason why bytes are not a key that can be used. The texts quote nothing of them.
public enum KeyError: Error, Hashable, Sendable {
  /// There is no private key in the text.
  case noKey
  /// The key is encrypted: PKCS #8's, OpenSSL's older and OpenSSH's form alike. It has to be stored without a passphrase.
  case encrypted
  /// A key of another type, curve or form, which the text names.
  case unsupported(String)
  /// An RSA key of this many bits, which are not 2048 to 8192.
  case size(bits: Int)
  /// The bytes are not a key of the form that they have the name of.
  case damaged(String)
  /// The private and the public part belong to two keys, or the numbers of an RSA key do not fit each other. Signatures
  /// made with such a key can tell the private one.
  case mismatched
  /// The certificate beside the key is another key's.
  case otherCertificate
  /// The key's own certificate stands behind another one.
  case certificateOrder
  /// The library refused.
  case library(SigningError)

  /// The fault in a sentence's end, for a person.
  public var reason: String {
    switch self {
    case .noKey: "there is no private key ('-----BEGIN … PRIVATE KEY-----')"
    case .encrypted: "the private key is encrypted; remove its passphrase first"
    case .unsupported(let what): "\(what) is not supported"
    case .size(let bits): "an RSA key of \(bits) bits is not supported; 2048 to 8192 are"
    case .damaged(let what): "the key is damaged: \(what)"
    case .mismatched: "the private and the public part of the key do not belong together"
    case .otherCertificate: "the certificate belongs to another key; give the key with its own, or alone"
    case .certificateOrder:
      "the first certificate belongs to another key; put the key's own before those of its issuers"
    case .library(let error): error.reason
    }
  }
}

extension KeyError {
  static let compressedPoint = KeyError.unsupported("a compressed point")
  static let unnamedCurve = KeyError.unsupported("a curve without a name")
  static let onlyPSS = "an RSA key for PSS alone"

  /// True where the key that is not supported may still be one that is, written in another way.
  var isOfForm: Bool { [.compressedPoint, .unnamedCurve, .unsupported(Self.onlyPSS)].contains(self) }

  /// Passes on an error of libgcrypt's.
  static func passing<R: ~Copyable>(_ body: () throws(SigningError) -> R) throws(KeyError) -> R {
    do { return try body() } catch { throw .library(error) }
  }

  /// Passes on what SSH's types refuse.
  static func reading<R>(_ body: () throws(SSHFormatError) -> R) throws(KeyError) -> R {
    do { return try body() } catch { throw .damaged(error.reason) }
  }
}
