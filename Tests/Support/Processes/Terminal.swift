import Foundation
import Glibc
import Synchronization
import VaultProcess

/// A program that runs on a terminal of its own, as a person would run it.
public final class Terminal {
  private let child: Child?
  private let master: Int32
  // Held open so that the kernel does not reset the modes when the program's own descriptor closes.
  private let slave: Int32
  private var seen: [UInt8] = []
  private var consumed = 0
  /// The path of the terminal's device.
  public let path: String

  /// Makes a terminal on which nothing runs; a test itself asks questions there.
  public init(rows: Int = 24, columns: Int = 100) throws {
    (master, slave, path) = try Child.terminal(rows: rows, columns: columns)
    child = nil
  }

  /// Starts `program` with the terminal as its standard input, output and error and as its controlling terminal.
  ///
  /// - Parameters:
  ///   - arguments: The arguments after the program's name.
  ///   - stdin: A file that becomes standard input instead of the terminal.
  ///   - stdout: A file that becomes standard output instead of the terminal; it is created or emptied.
  public init(
    _ sandbox: Sandbox, _ arguments: [String], program: String = "vault", stdin: String? = nil, stdout: String? = nil,
    environment: [String: String?] = [:]
  ) throws {
    let (master, slave, path) = try Child.terminal()
    (self.master, self.slave, self.path) = (master, slave, path)
    if let stdout { try Data().write(to: URL(fileURLWithPath: stdout)) }
    let child = try Child(
      Sandbox.path(of: program), arguments, environment: sandbox.environment(with: environment),
      descriptors: [
        stdin.map { .file($0, O_RDONLY) } ?? .file(path, O_RDWR),
        stdout.map { .file($0, O_WRONLY) } ?? .file(path, O_RDWR),
        .file(path, O_RDWR),
      ])
    self.child = child
    sandbox.state.withLock { $0.children.append(child) }
  }

  deinit {
    child?.signal(SIGKILL)
    _ = child?.wait()
    Glibc.close(master)
    Glibc.close(slave)
  }

  /// The process on the terminal; 0 if none runs there.
  public var pid: Int32 { child?.pid ?? 0 }

  /// All that the program has shown so far, including echoes; lines end in CR LF.
  public var screen: String { String(decoding: seen, as: UTF8.self) }

  /// True if the terminal shows typed characters.
  public var echoes: Bool { modes.c_lflag & tcflag_t(ECHO) != 0 }

  /// True if the terminal collects and shows lines and turns its control characters into signals, as a shell expects.
  public var isCooked: Bool {
    let wanted = tcflag_t(ICANON | ISIG | ECHO)
    return modes.c_lflag & wanted == wanted
  }

  /// The number of bytes typed but not read, if the terminal does not wait for whole lines.
  public var unread: Int32 {
    var count: Int32 = 0
    _ = unsafe ioctl(slave, UInt(FIONREAD), &count)
    return count
  }

  /// The number of bytes typed but not read, if the terminal waits for whole lines; the next program gets these bytes.
  public var leftBehind: Int32 {
    var modes = modes
    modes.c_lflag &= ~tcflag_t(ICANON)
    unsafe tcsetattr(slave, TCSANOW, &modes)
    return unread
  }

  private var modes: termios {
    var modes = termios()
    unsafe tcgetattr(slave, &modes)
    return modes
  }

  /// Waits until the program has shown `text` after the text that earlier calls found, and returns everything
  /// up to its end.
  ///
  /// - Throws: ``SandboxError`` with the screen if the program ends first, or after 30 seconds.
  @discardableResult
  public func expect(_ text: String) throws -> String {
    let wanted = Array(text.utf8)
    while true {
      if let range = Data(seen[consumed...]).firstRange(of: wanted) {
        defer { consumed += range.upperBound }
        return String(decoding: seen[consumed..<(consumed + range.upperBound)], as: UTF8.self)
      }
      guard try receive() else {
        throw SandboxError("“\(text)” never came; exit \((child?.status).map(String.init) ?? "none")\n\(screen)")
      }
    }
  }

  /// Types `text` and, by default, a return.
  public func type(_ text: String, return: Bool = true) {
    let bytes = Array(text.utf8) + (`return` ? [13] : [])
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes[sent...].withUnsafeBytes { unsafe write(master, $0.baseAddress, $0.count) }
      if count > 0 { sent += count } else if errno != EINTR { return }
    }
  }

  /// Types a letter with the control key held: `control("c")` interrupts, `control("z")` suspends.
  public func control(_ letter: Character) {
    guard let ascii = letter.asciiValue else { return }
    type(String(decoding: [ascii & 0x1f], as: UTF8.self), return: false)
  }

  /// Accepts no more output of the program, as after control-S. The last output of the program is lost.
  public func stopOutput() { tcflow(slave, Int32(TCOOFF)) }

  /// Sends the program a signal.
  public func signal(_ signal: Int32) { child?.signal(signal) }

  /// Waits for the program's end, collects the rest of its output, and returns its exit code.
  ///
  /// - Throws: ``SandboxError`` with the screen if the program runs for another 30 seconds without output.
  @discardableResult
  public func wait() throws -> Int32 {
    while try receive() {}
    guard let status = child?.wait() else { throw SandboxError("it does not end\n\(screen)") }
    return status
  }

  /// Reads the program's next output; false at its end.
  private func receive() throws -> Bool {
    var polled = [
      pollfd(fd: master, events: Int16(POLLIN), revents: 0),
      pollfd(fd: child?.ended ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let ready = unsafe poll(&polled, 2, 30_000)
    if ready < 0, errno == EINTR { return true }
    if ready == 0 { throw SandboxError("nothing more came\n\(screen)") }
    // Output that a program left behind is read before its end counts. The kernel passes output on in a thread of its
    // own, which may run only after the end of a program that a signal has ended right after its last words.
    if polled[0].revents & Int16(POLLIN) == 0 { unsafe poll(&polled, 1, 100) }
    guard polled[0].revents & Int16(POLLIN) != 0 else { return false }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(master, &buffer, buffer.count)
    if count > 0 { seen += buffer.prefix(count) }
    return count > 0 || errno == EINTR
  }
}
