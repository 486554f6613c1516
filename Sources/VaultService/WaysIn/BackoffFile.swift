internal import CLinux
internal import Glibc

/// Keeps the failed attempts over a restart of the daemon: `backoff` beside the store, mode 0600.
///
/// A file that another user could have written, or that is none, must not forgive anybody: everyone waits the longest time
/// once. The next attempt puts a file of ours in its place.
package struct BackoffFile {
  private let path: String
  private let bootID: String

  package init(directory: String) {
    path = directory + "/backoff"
    bootID = TextFile.read("/proc/sys/kernel/random/boot_id", limit: 64)?.filter { !$0.isNewline } ?? "-"
  }

  /// `doubt` is told why the file is not believed, if it is not.
  package func read(now: Int64, doubt: (String) -> Void = { _ in }) -> Backoff {
    do throws(TextFile.Problem) {
      return Backoff(parsing: try TextFile.readOwn(path, limit: 64 << 10), bootID: bootID, now: now)
    } catch .missing {
      return Backoff()
    } catch {
      if case .refused(let reason) = error { doubt(reason) }
      return Backoff(suspecting: now)
    }
  }

  package func write(_ backoff: Backoff) throws(SystemError) {
    let text = backoff.text(bootID: bootID)
    if text.isEmpty {
      unsafe unlink(path)
    } else {
      try TextFile.replace(path, with: text)
    }
  }
}
