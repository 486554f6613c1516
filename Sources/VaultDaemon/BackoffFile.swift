internal import CLinux
internal import Glibc

/// Keeps the failed attempts over a restart of the daemon: `backoff` beside the store, mode 0600.
struct BackoffFile {
  private let path: String
  private let bootID: String

  init(directory: String) {
    path = directory + "/backoff"
    bootID = TextFile.read("/proc/sys/kernel/random/boot_id", limit: 64)?.filter { !$0.isNewline } ?? "-"
  }

  func read(now: Int64) -> Backoff {
    guard let text = TextFile.read(path, limit: 64 << 10) else { return Backoff() }
    return Backoff(parsing: text, bootID: bootID, now: now)
  }

  func write(_ backoff: Backoff) throws(SystemError) {
    let text = backoff.text(bootID: bootID)
    if text.isEmpty {
      unsafe unlink(path)
    } else {
      try TextFile.replace(path, with: text)
    }
  }
}
