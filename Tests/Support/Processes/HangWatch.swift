import CLinux
import Foundation
import Glibc
import Synchronization
import Testing

/// A watch that ends a test run in which a test hangs, and names the test.
///
/// The limit of swift-testing (`.timeLimit`) cancels a test's task and then waits for it, but a thread that waits for
/// another process does not notice that. So this class watches the folders that tests make: a folder that still exists
/// after the limit belongs to a test that hangs, or to one that left it behind. Tests need not do anything for this. A
/// test that makes no folder is ended with the whole run; `make test` then names the tests that had begun.
public final class HangWatch: Sendable {
  /// A test that has made a folder and has not ended.
  private struct Entry {
    let test: String
    /// The time at which the folder was made, in seconds of `CLOCK_MONOTONIC`.
    let since: Int
  }

  /// The limits for one test and for the whole run, in seconds. The longest test takes some minutes on a busy machine,
  /// and a test that suspends waits for its turn behind hundreds of others. With a sanitizer, everything takes several
  /// times as long.
  public static let limits = Sanitizer.isPresent ? (test: 3600, run: 14400) : (test: 900, run: 3600)

  private let limits: (test: Int, run: Int)
  private let began: Int
  private let entries = Mutex<[String: Entry]>([:])

  /// The watch over this process, from its start.
  static let ofThisRun: HangWatch = {
    let watch = HangWatch(limits: limits, now: seconds())
    Thread.detachNewThread {
      while true {
        sleep(5)
        guard let complaint = watch.complaint(now: seconds()) else { continue }
        FileHandle.standardError.write(Data((complaint + "\n").utf8))
        // Swift's handler of this signal prints the stack of each thread.
        abort()
      }
    }
    return watch
  }()

  public init(limits: (test: Int, run: Int), now: Int) {
    self.limits = limits
    began = now
  }

  /// Records that `test` has made a folder.
  public func add(_ folder: String, of test: String, now: Int) {
    entries.withLock { $0[folder] = Entry(test: test, since: now) }
  }

  func add(_ folder: String) {
    let test = Test.current.map { test in
      let place = "\(test.sourceLocation.fileName):\(test.sourceLocation.line)"
      return "Test \"\(test.displayName ?? test.name)\" at \(place)"
    }
    add(folder, of: test ?? "a test", now: Self.seconds())
  }

  /// The message to print before the run is ended; nil if there is no reason to end it.
  public func complaint(now: Int) -> String? {
    entries.withLock { entries in
      entries = entries.filter { unsafe access($0.key, F_OK) == 0 }
      let isRunOver = now - began >= limits.run
      guard isRunOver || entries.values.contains(where: { now - $0.since >= limits.test }) else { return nil }
      let lines = entries.sorted { ($0.value.since, $0.key) < ($1.value.since, $1.key) }.map { folder, entry in
        let hangs = now - entry.since >= limits.test
        return "\(hangs ? "✘" : "◇") \(entry.test) has not ended after \(now - entry.since) s: \(folder)"
      }
      let end = isRunOver ? ["✘ The tests have not ended after \(now - began) s."] : []
      return (lines + end).joined(separator: "\n")
    }
  }

  private static func seconds() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec
  }
}

/// Begins the watch; called before the first test, whichever it is.
@c(vault_tests_begin)
public func testsBegin() { _ = HangWatch.ofThisRun }
