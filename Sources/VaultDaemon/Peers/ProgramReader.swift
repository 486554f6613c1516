internal import Glibc
internal import NIOCore
internal import VaultService

/// Reads the files that clients run, to know their digests.
///
/// The files are read by threads of their own: a long file takes a second, and a file system that does not answer may
/// hold a thread for ever. A user's programs never hold all threads. The long files of one user's programs are read one
/// after the other, so that they keep no short file waiting. A short file that is not read within ``quick`` is put
/// aside: it no longer counts toward ``most``, and keeps no other file waiting. Only dozens of processes can reach the
/// limit for files that are put aside. No client waits longer than ``patience``. A file that takes longer is read all
/// the same, so that its digest is known when its program comes back.
final class ProgramReader {
  /// The time for which a client waits for its digest, in nanoseconds.
  static let patience: Int64 = 10_000_000_000
  /// The time after which a short file is put aside, in nanoseconds.
  static let quick: Int64 = 1_000_000_000
  /// The niceness of the threads that read long files: half of the share of another thread (sched(7)). At niceness 10,
  /// which leaves a tenth of the share, a long file is not read within ``patience`` on a busy machine. Each new
  /// connection waits for a thread that looks its file up, so the other threads keep the daemon's own niceness.
  static let niceness: Int32 = 3
  /// The most files that are read at a time.
  static let most = 4
  /// The most files of one user's programs that are read at a time.
  static let mostOfOne = most - 1
  /// The most files that are put aside, each with its thread: of all programs, and of one user's programs.
  static let (mostAside, mostAsideOfOne) = (64, 48)
  /// The number of files whose digests are remembered.
  private static let mostRemembered = 64

  /// A process whose file is to be read.
  private final class Order {
    let pid: Int32
    let uid: UInt32
    /// The path of the file. Processes of one user with the same path most likely run the same file, so that the second
    /// waits for the digest instead of reading the file as well.
    let path: String
    /// True once the file was found to be long.
    var isLong = false
    private var then: ((ProgramDigest) -> Void)?
    var giveUp: Timer.Cancel?

    init(_ pid: Int32, _ uid: UInt32, _ path: String, _ then: @escaping (ProgramDigest) -> Void) {
      (self.pid, self.uid, self.path, self.then) = (pid, uid, path, then)
    }

    /// True until the client is told the digest.
    var isAwaited: Bool { then != nil }

    /// Tells the client, unless it was told before.
    func end(_ digest: ProgramDigest) {
      giveUp?()
      giveUp = nil
      then.take()?(digest)
    }
  }

  /// A file that is being read by a thread.
  private final class Work {
    let order: Order
    let isLong: Bool
    /// True when the file has taken so long that it is put aside if there is room.
    var isOverdue = false
    /// True when the file no longer counts toward ``ProgramReader/most``. Then only the same process waits for the
    /// file, because another process may have another file at the same path.
    var isAside = false
    var timeout: Timer.Cancel?

    init(_ order: Order) { (self.order, isLong) = (order, order.isLong) }

    /// True if the file of an order must not be read now, because it may be this file.
    func holdsBack(_ other: Order) -> Bool {
      guard order.uid == other.uid else { return false }
      return order.pid == other.pid || !isAside && order.path == other.path
    }
  }

  private let loop: any EventLoop
  private let timer: Timer
  /// Reads the file of a process, in a thread. Tests put in another one.
  var read: @Sendable (_ pid: Int32, _ known: [FileStamp: String], _ takesLong: Bool) -> Program.Reading =
    Program.read
  /// The orders whose files are not being read, in the order in which they came.
  private var waiting: [Order] = []
  /// The files that are being read.
  private var works: [Work] = []
  /// The threads that read nothing now: those for short files and for known ones, and those for long files.
  private var (idle, idleForLong): ([WorkerThread], [WorkerThread]) = ([], [])
  /// The digests of files.
  private var known: [FileStamp: String] = [:]

  /// - Parameter loop: the loop on which everything but the reading is done.
  init(on loop: any EventLoop, _ timer: Timer) { (self.loop, self.timer) = (loop, timer) }

  /// The number of files that are being read.
  var count: Int { works.count }

  /// Runs `then` on the loop with the digest of the file that a process runs.
  func digest(of pid: Int32, uid: UInt32, then: @escaping (ProgramDigest) -> Void) {
    guard let path = Program.path(of: pid, evenGone: true) else { return then(.known(nil)) }
    let order = Order(pid, uid, path, then)
    order.giveUp = timer.after(Self.patience) { [weak self, weak order] in
      guard let self, let order else { return }
      waiting.removeAll { $0 === order }
      order.end(.uncertain)
      for work in works where work.order === order { work.isOverdue = true }
      readNext()
    }
    waiting.append(order)
    readNext()
  }

  private func readNext() {
    for work in works where work.isOverdue && !work.isAside { work.isAside = mayPutAside(work) }
    while works.count(where: { !$0.isAside }) < Self.most, let index = waiting.firstIndex(where: mayRead) {
      read(waiting.remove(at: index))
    }
  }

  private func mayRead(_ order: Order) -> Bool {
    if works.contains(where: { $0.holdsBack(order) }) { return false }
    let own = works.filter { !$0.isAside && $0.order.uid == order.uid }
    return own.count < Self.mostOfOne && !(order.isLong && own.contains { $0.isLong })
  }

  private func mayPutAside(_ work: Work) -> Bool {
    let aside = works.filter(\.isAside)
    return aside.count < Self.mostAside && aside.count { $0.order.uid == work.order.uid } < Self.mostAsideOfOne
  }

  private func read(_ order: Order) {
    let work = Work(order)
    works.append(work)
    if !work.isLong {
      work.timeout = timer.after(Self.quick) { [weak self, weak work] in
        work?.isOverdue = true
        self?.readNext()
      }
    }
    let (read, pid, known, isLong) = (read, order.pid, known, order.isLong)
    let thread = (isLong ? idleForLong.popLast() : idle.popLast()) ?? WorkerThread(telling: loop)
    thread.run {
      // Only one client waits for a long file, so the daemon's other threads come first. If the call fails, the thread
      // runs like any other. A process without privileges cannot take the niceness back.
      if isLong { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness) }
      return read(pid, known, isLong)
    } then: { [self] reading in
      work.timeout?()
      works.removeAll { $0 === work }
      if isLong { idleForLong.append(thread) } else { idle.append(thread) }
      switch reading {
      case .long:
        order.isLong = true
        if order.isAwaited { waiting.append(order) }
      case .none: order.end(.known(nil))
      case .uncertain: order.end(.uncertain)
      case .digest(let digest, let stamp):
        remember(digest, stamp)
        order.end(.known(digest))
      }
      readNext()
    }
  }

  private func remember(_ digest: String, _ stamp: FileStamp) {
    guard known[stamp] == nil else { return }
    if known.count >= Self.mostRemembered { known = [:] }
    known[stamp] = digest
  }
}
