import CMemorySearch
import Glibc

/// A hold on another process at its end, when its program has ended and all its memory still exists. Needs root.
///
/// A killed process is in that state for as long as the kernel takes to tear it down; this class extends that moment as
/// long as a test needs.
public final class HeldEnd {
  private let holder: Int32
  private let events: Int32
  private var release: Int32

  /// Returns once it is certain that the end of `process` will be held.
  public init(of process: Int32) throws {
    var (events, release): (Int32, Int32) = (-1, -1)
    holder = unsafe hold_at_end(process, &events, &release)
    (self.events, self.release) = (events, release)
    guard holder > 0 else { throw SandboxError("fork: \(errno)") }
    guard next() == UInt8(ascii: "s") else { throw SandboxError("\(process) cannot be traced") }
  }

  deinit { letGo() }

  /// The end of a process that could not be held: one that is killed while it ends stops no more.
  public struct Missed: Error {}

  /// Waits until the process has ended.
  ///
  /// - Throws: ``Missed``.
  public func wait() throws {
    guard next() == UInt8(ascii: "x") else { throw Missed() }
  }

  /// Lets the kernel tear down the process. Safe to call twice.
  public func letGo() {
    guard release >= 0 else { return }
    close(release)
    release = -1
    close(events)
    var status: Int32 = 0
    // A process that has not ended is freed when the holder, which traces it, ends.
    kill(holder, SIGKILL)
    while unsafe waitpid(holder, &status, 0) < 0 && errno == EINTR {}
  }

  /// The next report of the holder; nil if there is none within a minute.
  private func next() -> UInt8? {
    var polled = pollfd(fd: events, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&polled, 1, 60_000) < 0 && errno == EINTR {}
    var byte: UInt8 = 0
    guard polled.revents != 0, unsafe read(events, &byte, 1) == 1 else { return nil }
    return byte
  }
}
