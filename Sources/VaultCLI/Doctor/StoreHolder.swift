internal import CLinux
internal import Glibc
internal import VaultModel

/// The process that holds the lock of a store, and so serves the vault, at this program's socket or at another.
///
/// A daemon may listen where this program does not look: in the folder of an earlier login, or at a socket that was
/// named. Then no connection tells whether somebody has the keys, but the lock of the store does.
struct StoreHolder: Equatable {
  /// The result of a look at the lock.
  enum Finding: Equatable {
    /// No store is in this folder, so this program may look at the wrong place.
    case noStore(String)
    /// No process holds the lock, so no daemon serves the vault.
    case none
    case held(StoreHolder)
    /// The lock cannot be examined, for this reason.
    case hidden(String)
  }

  /// The place of the socket at which this program looks for a daemon.
  enum Place: Equatable {
    case socket(String)
    /// There is no place for a socket, for this reason.
    case none(String)

    /// Says that no daemon was found there.
    var absence: String {
      switch self {
      case .socket(let path): "no daemon listens on \(Printable.text(path))"
      case .none(let reason): reason
      }
    }
  }

  /// The result of a signal to the holder.
  enum Outcome: Equatable {
    case locked, ended
    /// The holder has not confirmed in time that it has wiped the keys.
    case unconfirmed
    /// The signal was not sent, for this reason.
    case unsent(String)
  }

  /// The folder of the store.
  private let folder: String
  /// The holder's process id; nil if the kernel does not show it here, for example because the process is in another
  /// container.
  let pid: pid_t?
  /// True if the process is a daemon, which knows the signal. Any program can hold the lock.
  private let isDaemon: Bool

  /// Looks for a daemon that serves the vault of this run. A daemon that ends closes its socket a moment before it
  /// releases the lock, so a lock counts only if it lasts.
  ///
  /// - Parameter limit: the time for which the lock must be held.
  static func find(system: Bool, lasting limit: Duration = .milliseconds(400)) -> Finding {
    guard let store = StorePaths(system: system) else {
      return .hidden("neither XDG_DATA_HOME nor HOME is set")
    }
    return find(in: store.directory, lasting: limit)
  }

  /// Looks for a daemon that serves the vault in a folder.
  static func find(in folder: String, lasting limit: Duration = .milliseconds(400)) -> Finding {
    let start = ContinuousClock.now
    while true {
      let finding = look(in: folder)
      guard case .held = finding, ContinuousClock.now - start < limit else { return finding }
      usleep(10_000)
    }
  }

  private static func look(in folder: String) -> Finding {
    let file = folder + "/vault.lock"
    let lock = unsafe open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard lock >= 0 else {
      guard errno == ENOENT || errno == ENOTDIR else { return .hidden("\(file): \(Output.describe(errno))") }
      // A daemon that has the store open may have taken the lock of a file that was removed since.
      let isBesideStore = FileState(folder + "/vault.db").exists
      return isBesideStore ? .hidden("\(file) is missing beside vault.db") : .noStore(folder)
    }
    defer { close(lock) }
    var status = stat()
    guard unsafe fstat(lock, &status) == 0 else { return .hidden("\(file): \(Output.describe(errno))") }
    guard status.st_mode & S_IFMT == S_IFREG else { return .hidden("\(file) is not a regular file") }
    // A shared lock disturbs no other program that only looks; a daemon that starts tries again.
    if flock(lock, LOCK_SH | LOCK_NB) == 0 {
      flock(lock, LOCK_UN)
      return .none
    }
    guard errno == EWOULDBLOCK else { return .hidden("\(file): \(Output.describe(errno))") }
    let pid = HeldLocks.holder(of: status)
    let isDaemon = pid.map { FileInput.text(of: "/proc/\($0)/comm") == "vaultd\n" } ?? false
    return .held(StoreHolder(folder: folder, pid: pid, isDaemon: isDaemon))
  }

  /// Has the holder lock the vault, by the signal that does so (vaultd(8)), and waits for its confirmation: the number
  /// in the lock's file increases after each lock by the signal. A holder that cannot run now gets the signal when it
  /// runs.
  ///
  /// - Parameter patience: the time to wait for the confirmation.
  func lock(within patience: Duration) -> Outcome {
    guard let pid else { return .unsent("its process id is not known here") }
    guard isDaemon else { return .unsent("it is not vaultd") }
    let process = pidfd_open(pid, 0)
    guard process >= 0 else { return errno == ESRCH ? ended : .unsent(Output.describe(errno)) }
    defer { close(process) }
    // The descriptor is that of the holder only if the holder still has this id.
    guard StoreHolder.look(in: folder) == .held(self) else { return ended }
    let before = confirmations
    guard pidfd_send_signal(process, SIGUSR1, nil, 0) == 0 else {
      return errno == ESRCH ? ended : .unsent(Output.describe(errno))
    }
    let start = ContinuousClock.now
    repeat {
      if let before, let now = confirmations, now.holder == before.holder, now.count != before.count,
        StoreHolder.look(in: folder) == .held(self)
      {
        return .locked
      }
      var end = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
      if unsafe poll(&end, 1, 10) > 0 { return ended }
    } while ContinuousClock.now - start < patience
    return .unconfirmed
  }

  /// The outcome if the process has ended: the vault is closed only if the lock is free as well.
  private var ended: Outcome {
    switch StoreHolder.look(in: folder) {
    case .none, .noStore: .ended
    case .held, .hidden: .unconfirmed
    }
  }

  /// The holder's process id, in its own namespace, and the number of locks that it has confirmed, as the lines of the
  /// lock's file say; nil while the file is being written. Programs may change the file's times by accident, but not
  /// this number.
  private var confirmations: (holder: Substring, count: Int)? {
    guard let text = FileInput.text(of: folder + "/vault.lock", limit: 64) else { return nil }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    // On a full disk, a holder may not have written anything.
    guard let holder = lines.first else { return text.isEmpty ? ("", 0) : nil }
    return lines.count > 1 ? Int(lines[1]).map { (holder, $0) } : (holder, 0)
  }

  /// Describes the holder as one that listens elsewhere than at `place`.
  func elsewhere(than place: Place) -> String {
    let subject = pid.map { "process \($0)" } ?? "a process that cannot be seen from here"
    let deed = isDaemon ? "serves this vault" : "holds the lock of this vault"
    switch place {
    case .socket(let path): return "\(subject) \(deed), but does not listen at \(Printable.text(path))"
    case .none(let reason): return "\(subject) \(deed), at a socket that is not known here (\(reason))"
    }
  }

  /// The failure of a command that needs the daemon at `place`.
  func failure(insteadOf place: Place) -> Failure {
    let way = if case .none = place { "set XDG_RUNTIME_DIR as that process has it; " } else { "" }
    return Failure(.exists, "\(elsewhere(than: place)), so the vault's state is unknown here", way + remedy)
  }

  /// The failure of a command that finds no daemon at `place`, and cannot examine the lock for this reason.
  static func unknown(_ exit: Exit, at place: Place, _ reason: String) -> Failure {
    Failure(
      exit, "\(place.absence), and whether a daemon serves the vault is unknown: \(Printable.text(reason))",
      OtherDaemons.remedy)
  }

  /// The advice for a person who wants to reach the vault.
  var remedy: String { isDaemon ? "\(Hint.vault("lock")) locks it, and \(end)" : end }

  /// The advice to end the holder, for a person who cannot reach its socket.
  var end: String {
    guard let pid else { return "lock the vault where that process runs, or end the process" }
    return isDaemon ? "`kill \(pid)` ends that daemon" : "end that process"
  }
}

/// The locks of all processes, as the kernel lists them (proc_locks(5)).
enum HeldLocks {
  /// Returns the process that has the exclusive lock (flock(2)) on a file; nil if the kernel does not tell.
  static func holder(of file: stat) -> pid_t? {
    guard Processes.areShown else { return nil }
    let device = (major: vault_major(file.st_dev), minor: vault_minor(file.st_dev))
    // The kernel gives the list in pieces, and leaves out a lock if another one was released between two pieces. So a
    // lock that is not there is looked for again.
    for _ in 0..<5 {
      guard let text = FileInput.text(of: "/proc/locks", limit: 16 << 20) else { return nil }
      if let holder = holder(of: file.st_ino, on: device, in: text) { return holder }
    }
    return nil
  }

  /// Looks for the file in the text of the list.
  ///
  /// - Parameter device: the device of the file. Some file systems report different devices for a file and for its
  ///   locks, so the device decides only between files of the same number.
  static func holder(of file: UInt, on device: (major: UInt32, minor: UInt32), in text: String) -> pid_t? {
    var holders: [(pid: pid_t, isOnDevice: Bool)] = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE", let pid = pid_t(words[4]), pid > 0 else {
        continue
      }
      let place = words[5].split(separator: ":")
      guard place.count == 3, UInt(place[2]) == file else { continue }
      let isOnDevice = UInt32(place[0], radix: 16) == device.major && UInt32(place[1], radix: 16) == device.minor
      holders.append((pid, isOnDevice))
    }
    if holders.count > 1 { holders.removeAll { !$0.isOnDevice } }
    return holders.count == 1 ? holders[0].pid : nil
  }
}
