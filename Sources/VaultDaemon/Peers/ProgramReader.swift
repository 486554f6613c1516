internal import NIOCore
internal import VaultService

/// Reads the files that clients run, to know their digests.
///
/// The files are read by threads of their own: a long file takes a second, and a file system that does not answer may
/// hold a thread for ever. A file that holds a thread keeps no other file from being read, and a user's programs never
/// hold all threads. No client waits longer than ``patience``. A file that takes longer is read all the same, so that
/// its digest is known when its program comes back.
final class ProgramReader {
  /// The time for which a client waits for its digest, in nanoseconds.
  static let patience: Int64 = 10_000_000_000
  /// The most files that are read at a time.
  static let most = 4
  /// The most files of one user's programs that are read at a time.
  static let mostOfOne = most - 1
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
    private var then: ((ProgramDigest) -> Void)?
    var giveUp: Timer.Cancel?

    init(_ pid: Int32, _ file: File, _ then: @escaping (ProgramDigest) -> Void) {
      (self.pid, self.file, self.then) = (pid, file, then)
    }

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
  var read: @Sendable (_ pid: Int32, _ known: [Program.Identity: String]) -> Program.Reading = Program.read
  /// The orders whose files are not being read, in the order in which they came.
  private var waiting: [Order] = []
  private var files: Set<File> = []
  /// The threads that read nothing now.
  private var idle: [WorkerThread] = []
  /// The digests of files.
  private var known: [Program.Identity: String] = [:]

  /// - Parameter loop: the loop on which everything but the reading is done.
  init(on loop: any EventLoop, _ timer: Timer) { (self.loop, self.timer) = (loop, timer) }

  /// The number of files that are being read.
  var count: Int { files.count }

  /// Runs `then` on the loop with the digest of the file that a process runs.
  func digest(of pid: Int32, uid: UInt32, then: @escaping (ProgramDigest) -> Void) {
    guard let path = Program.path(of: pid, evenGone: true) else { return then(.known(nil)) }
    let order = Order(pid, File(uid: uid, path: path), then)
    order.giveUp = timer.after(Self.patience) { [weak self, weak order] in
      guard let self, let order else { return }
      waiting.removeAll { $0 === order }
      order.end(.uncertain)
    }
    waiting.append(order)
    readNext()
  }

  private func readNext() {
    while files.count < Self.most, let index = waiting.firstIndex(where: { mayRead($0.file) }) {
      read(waiting.remove(at: index))
    }
  }

  private func mayRead(_ file: File) -> Bool {
    !files.contains(file) && files.count { $0.uid == file.uid } < Self.mostOfOne
  }

  private func read(_ order: Order) {
    files.insert(order.file)
    let thread = idle.popLast() ?? WorkerThread(telling: loop)
    let (read, pid, known) = (read, order.pid, known)
    thread.run {
      read(pid, known)
    } then: { [self] reading in
      files.remove(order.file)
      idle.append(thread)
      switch reading {
      case .none: order.end(.known(nil))
      case .uncertain: order.end(.uncertain)
      case .digest(let digest, let identity):
        remember(digest, identity)
        order.end(.known(digest))
      }
      readNext()
    }
  }

  private func remember(_ digest: String, _ identity: Program.Identity) {
    guard known[identity] == nil else { return }
    if known.count >= Self.mostRemembered { known = [:] }
    known[identity] = digest
  }
}
