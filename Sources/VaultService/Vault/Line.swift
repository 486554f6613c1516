/// The work of one kind that one user's processes have asked for and that waits for its turn: done in the order of its
/// coming.
package final class Line {
  /// Somebody whose turns are told from those of others: a uid.
  package typealias Owner = UInt32

  /// The owner of the line; nil for the daemon's own work.
  package let owner: Owner?
  /// The share of the loop that it gets where others wait: one of weight 4 gets four times that of one of weight 1.
  package var weight: Int64
  /// The time at which its last work ended and the next may begin, in the nanoseconds of ``Turns/virtual``.
  var finish: Int64 = 0
  /// The time at which its next work begins, fixed when it began to wait.
  private(set) var start: Int64 = 0
  private var works: [(() -> Void)?] = []
  private var done = 0

  package init(of owner: Owner?, weight: Int64 = 1) {
    self.owner = owner
    self.weight = weight
  }

  /// The number of works that wait.
  package var count: Int { works.count - done }

  /// Adds work at the end.
  func add(_ work: @escaping () -> Void) { works.append(work) }

  /// Adds work before all that waits.
  func addFirst(_ work: @escaping () -> Void) {
    guard done > 0 else { return works.insert(work, at: 0) }
    done -= 1
    works[done] = work
  }

  /// Fixes when its next work begins.
  func begin(at virtual: Int64) { start = max(virtual, finish) }

  /// Puts off what waits: more of the line was done meanwhile.
  func delay() { start = max(start, finish) }

  /// Takes the work out that has waited longest.
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

  /// The places that stay when all is done.
  private static let kept = 64
}
