internal import NIOCore

/// The limits of the daemon's waiting for the other side.
enum Timeouts {
  /// For the rest of a frame that has begun.
  static let halfFrame = TimeAmount.seconds(30)
  /// For a client to read what was sent to it.
  static let slowReader = TimeAmount.seconds(30)
  /// For a client that was refused to read why.
  static let linger = TimeAmount.seconds(1)
  /// For a client to take or send the next bytes of a backup, in milliseconds.
  static let transfer: Int32 = 60_000
  /// For a client to take or send a backup: at least 64 KiB/s on average after the first minute, and an hour in all.
  static let pace = Pace.Limits(least: 64 << 10, grace: 60_000_000_000, total: 3_600_000_000_000)
  /// For a client to read how a backup or a restore ended, in milliseconds: another one may be waiting behind it.
  static let lastWord: Int32 = 30_000
  /// For service managers to take what is owed them at the daemon's end, in milliseconds: less than a service manager gives the
  /// daemon itself, 90 seconds.
  static let lastCredentials: Int64 = 60_000
  /// Before the next try to have the service manager keep a connection, in nanoseconds.
  static let keepPause: Int64 = 100_000_000
  /// Before the next try to accept a client when one failed.
  static let acceptPause = TimeAmount.milliseconds(250)
  /// The time that another keyring may take. A keyring that waits for a person is one that is locked.
  static let keyring = TimeAmount.seconds(10)
  /// The time that a TPM may take: a discrete one needs seconds for a key.
  static let tpm2 = TimeAmount.seconds(20)
  /// The time that a new RSA key may take: a small machine needs a minute for some.
  static let rsa = TimeAmount.seconds(300)
}
