/// The waiting work of one kind for the processes of one user, done in the order in which it was added.
package final class Line {
  /// The user, by uid, whose work takes turns with the work of others.
  package typealias Owner = UInt32

  /// The owner of the line; nil for the daemon's own work.
  package let owner: Owner?
  /// The line's share of the loop while others wait: a line of weight 4 gets four times the share of a line of weight
  /// 1.
  package var weight: Int64
  /// The time at which the line's last work ended and its next work may begin, in the nanoseconds of ``Turns/virtual``.
  var finish: Int64 = 0
  /// The time at which the line's next work begins, fixed when that work began to wait.
  private(set) var start: Int64 = 0
  private var works: [(() -> Void)?] = []
  private var done = 0

  package init(of owner: Owner?, weight: Int64 = 1) {
    self.owner = owner
    self.weight = weight
  }

  /// The number of pieces of work that wait.
  package var count: Int { works.count - done }

  /// Adds work at the end of the line.
  func add(_ work: @escaping () -> Void) { works.append(work) }

  /// Adds work before all waiting work.
  func addFirst(_ work: @escaping () -> Void) {
    guard done > 0 else { return works.insert(work, at: 0) }
    done -= 1
    works[done] = work
  }

  /// Fixes the time at which the line's next work begins.
  func begin(at virtual: Int64) { start = max(virtual, finish) }

  /// Puts off the next work, after more of the line's work was done.
  func delay() { start = max(start, finish) }

  /// Takes out the work that has waited longest.
  func takeFirst() -> (() -> Void)? {
    guard done < works.count else { return nil }
    let work = works[done]
    works[done] = nil
    done += 1
    if done == works.count {
      works.removeAll(keepingCapacity: done <= Self.kept)
      done = 0
    } else if done >= Self.kept, 2 * done > works.count {
      works.removeFirst(done)
      done = 0
    }
    return work
  }

  /// The places that stay allocated when all work is done.
  private static let kept = 64
}
