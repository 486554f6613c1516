/// The reason that a cryptographic operation or the decoding of a record was refused.
///
/// The texts name fields and limits, never content, so they may be logged and shown.
public enum CryptoError: Error, Hashable {
  /// A wrong key, a wrong password, or bytes that differ from those that were sealed.
  case authenticationFailed
  /// Bytes that do not have the documented form.
  case malformed(String)
  /// A number outside the range that this program accepts, refused before memory is allocated for it.
  case limits(String)
  /// The system had too little memory for Argon2id.
  case outOfMemory
}
