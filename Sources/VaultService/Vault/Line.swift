/// The waiting work of one kind for the processes of one user, done in the order in which it was added.
package final class Line {
  /// The user, by uid, whose work takes turns with the work of others.
  package typealias Owner = UInt32

  /// The owner of the line; nil for the daemon's own work.
  package let owner: Owner?
  /// The line's share of the loop while others wait: a line of weight 4 gets four times the share of a line of weight
  /// 1.
  package var weight: Int64
  /// The account to which the line's work is charged. Lines that share one account together get the share of one line.
  package var account: Account
  /// The time at which the line's own last work ended, in the nanoseconds of ``Turns/virtual``. It decides the order
  /// among lines of one account.
  private(set) var ownFinish: Int64 = 0
  /// The time at which the line's next work may begin at the earliest, set when that work began to wait.
  private var earliest: Int64 = 0
  private var works: [(() -> Void)?] = []
  private var done = 0

  package init(of owner: Owner?, weight: Int64 = 1, account: Account = Account()) {
    self.owner = owner
    self.weight = weight
    self.account = account
  }

  /// The work that was done for one line, or for several.
  package final class Account {
    /// The time at which the last work ended and the next work may begin, in the nanoseconds of ``Turns/virtual``.
    package fileprivate(set) var finish: Int64 = 0

    package init() {}
  }

  /// The time at which the last work of the account ended and its next work may begin, in the nanoseconds of
  /// ``Turns/virtual``.
  var finish: Int64 { account.finish }

  /// The time at which the line's next work begins: ``earliest``, or the account's finish if that is later by now.
  var start: Int64 { max(earliest, finish) }

  /// True if this line's next work comes before that of another line.
  func precedes(_ other: Line) -> Bool { (start, ownFinish) < (other.start, other.ownFinish) }

  /// Charges time to the line and its account. The time begins at `virtual`, or at the end of the earlier work if that
  /// is later.
  func charge(_ time: Int64, from virtual: Int64) {
    account.finish = max(virtual, account.finish) + time / weight
    ownFinish = max(virtual, ownFinish) + time / weight
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

  /// Sets the earliest time at which the line's next work may begin.
  func begin(at virtual: Int64) { earliest = max(virtual, finish) }

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
