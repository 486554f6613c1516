internal import CLinux
internal import Glibc

/// The file `backoff` beside the store, mode 0600, which keeps the failed attempts across a restart of the daemon.
///
/// A file that another user could have written, or that is not a regular file, must not clear anybody's failures: every
/// caller waits the longest time once. The next attempt replaces it with a file of the daemon's.
package struct BackoffFile {
  private let path: String
  private let bootID: String

  package init(directory: String) {
    path = directory + "/backoff"
    bootID = TextFile.read("/proc/sys/kernel/random/boot_id", limit: 64)?.filter { !$0.isNewline } ?? "-"
  }

  /// Reads the failed attempts.
  ///
  /// - Parameter doubt: called with the reason why the file is not trusted, if it is not.
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
