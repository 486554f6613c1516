internal import CLinux
internal import Glibc
internal import VaultWire

/// A GNOME Keyring that the session bus has started because `enable` asked for the items in it.
///
/// It is recognized by its owner, its name and the time of its start, and held by a descriptor, so that a signal
/// reaches no other process.
struct StartedKeyring: ~Copyable {
  /// The name of the program `gnome-keyring-daemon`, of which the kernel keeps 15 bytes.
  private static let name = "gnome-keyring-d"

  let pid: Int
  private let descriptor: Int32

  /// Nil unless the owner of the name is a GNOME Keyring of this user that was started since `moment`.
  ///
  /// - Parameter moment: a time before which nobody owned the name, as ``now()`` gives it.
  init?(_ owner: Wire.BusOwner?, since moment: Int) {
    guard let owner, !owner.own, let pid = pid_t(exactly: owner.pid), pid > 1 else { return nil }
    let descriptor = pidfd_open(pid, 0)
    guard descriptor >= 0 else { return nil }
    // The facts are those of the descriptor's process only if that process is still there after they were read.
    guard Self.isOwn(pid), Self.start(of: pid).map({ $0 >= moment }) == true, Self.send(0, to: descriptor) else {
      close(descriptor)
      return nil
    }
    (self.pid, self.descriptor) = (owner.pid, descriptor)
  }

  deinit { close(descriptor) }

  /// Asks it to end; false if it has ended already, or cannot be asked.
  func end() -> Bool { Self.send(SIGTERM, to: descriptor) }

  private static func send(_ signal: Int32, to descriptor: Int32) -> Bool {
    pidfd_send_signal(descriptor, signal, nil, 0) == 0
  }

  /// The time since the machine was started, in the units of proc_pid_stat(5).
  static func now() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return time.tv_sec * ticks + time.tv_nsec * ticks / 1_000_000_000
  }

  private static let ticks = sysconf(Int32(_SC_CLK_TCK))

  /// Returns the time of the start of a process named ``name`` (proc_pid_stat(5), field 22); nil for any other.
  private static func start(of pid: pid_t) -> Int? {
    guard let text = FileInput.text(of: "/proc/\(pid)/stat"), let end = text.lastIndex(of: ")"),
      text[..<end].hasSuffix("(\(name)")
    else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    return fields.count > 19 ? Int(fields[19]) : nil
  }

  /// True for a process of this user. The owner of its folder in /proc would not tell: it is root for a program that
  /// has capabilities, as this one may.
  private static func isOwn(_ pid: pid_t) -> Bool {
    guard let status = FileInput.text(of: "/proc/\(pid)/status") else { return false }
    return status.split(separator: "\n").contains { line in
      let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
      return words.first == "Uid:" && words.count > 2 && words[1...2].allSatisfy { $0 == "\(getuid())" }
    }
  }
}
