internal import CSodium

/// The libsodium library, which must be started before any other call.
enum Sodium {
  private static let started: Bool = sodium_init() >= 0

  /// Starts libsodium; cheap after the first call, and safe from any thread.
  static func start() { precondition(started, "libsodium could not be started") }
}
