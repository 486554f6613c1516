/// The reason that bytes are not a usable key. The texts quote nothing from the bytes.
public enum KeyError: Error, Hashable, Sendable {
  /// There is no private key in the text.
  case noKey
  /// The key is encrypted: in OpenSSH's form if `isOpenSSH` is true, otherwise in PKCS #8's or older OpenSSL's. A key
  /// must be stored without a passphrase.
  case encrypted(isOpenSSH: Bool)
  /// The key has an unsupported type, curve or form, which the text names.
  case unsupported(String)
  /// An RSA key with this number of bits, which is outside 2048 to 8192.
  case size(bits: Int)
  /// The bytes do not have the form that their label names.
  case damaged(String)
  /// The private and the public part belong to different keys, or the numbers of an RSA key do not fit together.
  /// Signatures made with such a key can reveal the private key.
  case mismatched
  /// The certificate beside the key belongs to another key.
  case otherCertificate
  /// The key's own certificate comes after another certificate.
  case certificateOrder
  /// libgcrypt refused the key.
  case library(SigningError)

  /// The fault as the end of a sentence, for a person.
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

  /// True if the error concerns only the written form, so that the unsupported key may be the same as a supported one.
  var isOfForm: Bool { [.compressedPoint, .unnamedCurve, .unsupported(Self.onlyPSS)].contains(self) }

  /// Converts an error of libgcrypt.
  static func passing<R: ~Copyable>(_ body: () throws(SigningError) -> R) throws(KeyError) -> R {
    do { return try body() } catch { throw .library(error) }
  }

  /// Converts an error in SSH's data types.
  static func reading<R>(_ body: () throws(SSHFormatError) -> R) throws(KeyError) -> R {
    do { return try body() } catch { throw .damaged(error.reason) }
  }
}
