internal import NIOCore

/// The time limits of the daemon's waits for the other side.
enum Timeouts {
  /// The time for the rest of a frame that has begun.
  static let halfFrame = TimeAmount.seconds(30)
  /// The time for a client to read a reply.
  static let slowReader = TimeAmount.seconds(30)
  /// The time for a refused client to read the reason.
  static let linger = TimeAmount.seconds(1)
  /// The time for a client to take or send the next bytes of a backup, in milliseconds.
  static let transfer: Int32 = 60_000
  /// The time that a client has to write a backup to its disk before it confirms the backup, in milliseconds.
  static let confirmation: Int32 = 600_000
  /// The pace of a client that takes or sends a backup: at least 64 KiB/s on average after the first minute, and an
  /// hour in all.
  static let pace = Pace.Limits(least: 64 << 10, grace: 60_000_000_000, total: 3_600_000_000_000)
  /// The time for a client to read the result of a backup or a restore, in milliseconds. Another client may be waiting
  /// behind this one.
  static let lastWord: Int32 = 30_000
  /// The time for service managers to take the daemon's last bytes before it ends, in milliseconds.
  static let lastWords: Int64 = 1_000
  /// The time for service managers to take the daemon's last bytes from a separate process after the daemon has ended,
  /// in milliseconds. It is less than the 90 seconds that a service manager gives a service to end.
  static let lastWordsBeyond: Int64 = 60_000
  /// The pause before the next attempt to have the service manager keep a connection, in nanoseconds.
  static let keepPause: Int64 = 100_000_000
  /// The pause before the next attempt to watch the folders of the socket and of the store, in nanoseconds: it doubles
  /// up to the longest one.
  static let (leastWatchPause, mostWatchPause): (Int64, Int64) = (1_000_000_000, 300_000_000_000)
  /// The time until the daemon ends after the store's lock has lost its place, in nanoseconds.
  static let lostLock: Int64 = 1_000_000_000
  /// The pause before the next attempt to accept a client after a failure.
  static let acceptPause = TimeAmount.milliseconds(250)
  /// The time for an answer of the `keyring` keystore's Secret Service. A keyring that waits for a person counts as
  /// locked.
  static let keyring = TimeAmount.seconds(10)
  /// The time for a TPM, because a discrete one needs seconds for a key.
  static let tpm2 = TimeAmount.seconds(20)
  /// The time for a new RSA key, because a small machine needs a minute for some keys.
  static let rsaKey = TimeAmount.seconds(300)
  /// The time for a signature by a large RSA key: some hundred times what the largest key takes, because the helper
  /// runs at a low priority. All other signatures by large keys wait meanwhile, whoever asks.
  static let rsaSignature = TimeAmount.seconds(60)
}
