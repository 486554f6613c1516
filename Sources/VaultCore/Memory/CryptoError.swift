/// The reason why a cryptographic operation or the decoding of a record was refused.
///
/// The texts name fields and limits, never content, so they may be logged and shown.
public enum CryptoError: Error, Hashable {
  /// Wrong key, wrong password, or bytes that are not the ones which were sealed.
  case authenticationFailed
  /// The bytes do not have the documented form.
  case malformed(String)
  /// A number lies outside of what this program accepts; checked before any memory is taken for it.
  case limits(String)
  /// The system had not enough memory for Argon2id.
  case outOfMemory
}
