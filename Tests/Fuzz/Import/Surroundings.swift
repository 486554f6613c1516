import VaultBytes
import VaultWire

// In place of the program and of the source: the reading of replies stands on these alone.

struct Failure: Error, Equatable {}

enum ImportProgram {
  static let wrong = Failure()
}

enum ImportSource {
  static let tooLarge = Failure()
}

enum ItemURI {
  /// To a plan here, a one-time secret in another form is another content.
  static func uri(of item: Wire.Item, _ value: borrowing SecretBuffer) throws(Failure) -> SecretBuffer {
    throw Failure()
  }
}
