/// The reason that a session of the Secret Service was not opened, or that a secret in it was refused. The reasons name
/// no content.
public enum SecretSessionError: Error, Hashable, Sendable {
  /// A public key that lies outside the group, or with which the shared secret would be no secret.
  case publicKey
  /// A secret in another form than the session's: wrong parameters, a wrong size, or a wrong padding, which are not
  /// told apart.
  case secret
  /// A secret that is longer than ``ValueLimits/bytes``.
  case tooLong
  /// A refusal by libgcrypt.
  case library(SigningError)
}
