internal import Glibc
internal import NIOCore
internal import VaultService

/// Reads the files that clients run, to know their digests.
///
/// The files are read by threads of their own: a long file takes a second, and a file system that does not answer may
/// hold a thread for ever. A file that holds a thread keeps no other file from being read, and a user's programs never
/// hold all threads. Long files are read one after the other, so that they keep no short one waiting. No client waits
/// longer than ``patience``. A file that takes longer is read all the same, so that its digest is known when its
/// program comes back, and counts no more among the files that are read.
final class ProgramReader {
  /// The time for which a client waits for its digest, in nanoseconds.
  static let patience: Int64 = 10_000_000_000
  /// The most files that are read at a time.
  static let most = 4
  /// The most files of one user's programs that are read at a time.
  static let mostOfOne = most - 1
  /// The most files that may hold threads beyond ``patience``, and of these, of one user's programs.
  private static let (mostLate, mostLateOfOne) = (32, 8)
  /// The number of files whose digests are remembered.
  private static let mostRemembered = 64

  /// A file that is read at most once at a time: the file that a user's processes know by this path.
  private struct File: Hashable {
    let uid: UInt32
    let path: String
  }

  /// A process whose file is to be read.
  private final class Order {
    let pid: Int32
    let file: File
    /// True once the file was found to be long.
    var isLong = false
    private var then: ((ProgramDigest) -> Void)?
    var giveUp: Timer.Cancel?

    init(_ pid: Int32, _ file: File, _ then: @escaping (ProgramDigest) -> Void) {
      (self.pid, self.file, self.then) = (pid, file, then)
    }

    /// True while the client was not told.
    var isAwaited: Bool { then != nil }

    /// Tells the client, unless it was told before.
    func end(_ digest: ProgramDigest) {
      giveUp?()
      giveUp = nil
      then.take()?(digest)
    }
  }

  private let loop: any EventLoop
  private let timer: Timer
  /// Reads the file of a process, in a thread. Tests put in another one.
  var read: @Sendable (_ pid: Int32, _ known: [FileStamp: String], _ takesLong: Bool) -> Program.Reading =
    Program.read
  /// The orders whose files are not being read, in the order in which they came.
  private var waiting: [Order] = []
  /// The files that are being read, and whether each is a long one.
  private var files: [File: Bool] = [:]
  /// The files that have been read for longer than a client waits.
  private var late: Set<File> = []
  /// The threads that read nothing now.
  private var idle: [WorkerThread] = []
  /// The digests of files.
  private var known: [FileStamp: String] = [:]

  /// - Parameter loop: the loop on which everything but the reading is done.
  init(on loop: any EventLoop, _ timer: Timer) { (self.loop, self.timer) = (loop, timer) }

  /// The number of files that are being read.
  var count: Int { files.count + late.count }

  /// Runs `then` on the loop with the digest of the file that a process runs.
  func digest(of pid: Int32, uid: UInt32, then: @escaping (ProgramDigest) -> Void) {
    guard let path = Program.path(of: pid, evenGone: true) else { return then(.known(nil)) }
    let order = Order(pid, File(uid: uid, path: path), then)
    order.giveUp = timer.after(Self.patience) { [weak self, weak order] in
      guard let self, let order else { return }
      waiting.removeAll { $0 === order }
      order.end(.uncertain)
      putAside(order.file)
    }
    waiting.append(order)
    readNext()
  }

  private func readNext() {
    while files.count < Self.most, let index = waiting.firstIndex(where: mayRead) {
      read(waiting.remove(at: index))
    }
  }

  private func mayRead(_ order: Order) -> Bool {
    let file = order.file
    if files[file] != nil || late.contains(file) { return false }
    if order.isLong, files.contains(where: { $0.key.uid == file.uid && $0.value }) { return false }
    return files.count { $0.key.uid == file.uid } < Self.mostOfOne
  }

  /// Counts a file no more among those that are read, if there are not too many of its kind already.
  private func putAside(_ file: File) {
    let isBounded = late.count < Self.mostLate && late.count { $0.uid == file.uid } < Self.mostLateOfOne
    guard isBounded, files.removeValue(forKey: file) != nil else { return }
    late.insert(file)
    readNext()
  }

  private func read(_ order: Order) {
    files[order.file] = order.isLong
    let thread = idle.popLast() ?? WorkerThread(telling: loop)
    let (read, pid, known, isLong) = (read, order.pid, known, order.isLong)
    thread.run {
      // Only one client waits for this thread, so everything else on this machine runs first. If the call fails, the
      // thread runs like any other.
      _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      return read(pid, known, isLong)
    } then: { [self] reading in
      files[order.file] = nil
      late.remove(order.file)
      idle.append(thread)
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
