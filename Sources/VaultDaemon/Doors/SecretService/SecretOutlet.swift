internal import CLinux
internal import Glibc
internal import VaultProcess

/// A descriptor that another program gave, for a secret to be written to.
///
/// Nothing here waits, whatever the program does with its copy of the descriptor: its flags, for example, are shared,
/// and may change at any time. Only pipes, Unix sockets and files in memory are taken. With any other file, even a
/// question about it may wait: for a disk, a network, or a program that serves a file system. Another user of a pipe or
/// of a file in memory may hold the kernel's lock on it, so a thread writes to these. Closing any file may wait, so a
/// thread does that, too.
final class SecretOutlet {
  enum Outcome {
    case written
    /// A thread is writing the secret, which this process no longer has.
    case passing
    /// There is no room now.
    case full
    /// The other end is closed, or the descriptor takes no secret.
    case failed
  }

  private enum Kind {
    case pipe, socket, memory
  }

  /// The most bytes of a secret. A pipe with any room, and a socket, take that many bytes as a whole.
  static let longest = 4096
  // Numbers of linux/fcntl.h and asm/socket.h.
  private static let (seals, domain): (Int32, Int32) = (1034, 39)
  /// The flag SPLICE_F_NONBLOCK.
  private static let atOnce: UInt32 = 2

  private(set) var descriptor: Int32
  private let kind: Kind?
  private let files: GivenFiles
  /// Gets the outcome of what a thread writes.
  private var passed: ((Outcome) -> Void)?
  private var isPassing = false

  /// Takes over a descriptor, which `files` closes in the end.
  init(_ descriptor: Int32, among files: GivenFiles) {
    (self.descriptor, self.files) = (descriptor, files)
    kind = Self.kind(of: descriptor)
  }

  deinit { close() }

  /// Closes the descriptor, and runs `then` afterwards.
  func close(then: @escaping () -> Void = {}) {
    passed = nil
    guard descriptor >= 0 else { return then() }
    files.close(descriptor, then: then)
    descriptor = -1
  }

  /// True if the descriptor may take a secret.
  var isUsable: Bool { kind != nil }

  private static func kind(of descriptor: Int32) -> Kind? {
    var (family, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    if unsafe getsockopt(descriptor, SOL_SOCKET, domain, &family, &size) == 0 {
      // A secret is not sent over a network.
      return family == AF_UNIX ? .socket : nil
    }
    // The kernel returns the name from memory. The name of a file in a file system begins with a slash.
    guard let name = SymbolicLink.target(of: "/proc/self/fd/\(descriptor)") else { return nil }
    if name.hasPrefix("pipe:[") { return .pipe }
    return name.hasPrefix("/memfd:") && fcntl(descriptor, seals) >= 0 ? .memory : nil
  }

  /// Writes all of a secret, or nothing.
  func write(_ value: RawSpan) -> Outcome {
    guard descriptor >= 0, !isPassing, value.byteCount > 0, value.byteCount <= Self.longest else { return .failed }
    // The bytes are valid for the calls.
    return unsafe value.withUnsafeBytes { bytes in
      switch kind {
      case .pipe, .memory: return unsafe pass(bytes)
      case .socket:
        let count = unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        return Self.outcome(count, of: bytes.count)
      case nil: return .failed
      }
    }
  }

  private static func outcome(_ count: Int, of all: Int) -> Outcome {
    if count == all { return .written }
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? .full : .failed
  }

  /// Writes bytes through a pipe of our own. A thread that waits then has none of the bytes in its memory. And
  /// splice(2) heeds its own flag, while write(2) would heed the flags of the program's pipe.
  private func pass(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { return .failed }
    let (source, count) = (ends[0], bytes.count)
    defer { Glibc.close(ends[1]) }
    guard unsafe Glibc.write(ends[1], bytes.baseAddress, count) == count else {
      Glibc.close(source)
      return .failed
    }
    isPassing = true
    // The descriptor may be closed meanwhile, in another thread.
    let target = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    files.run { [atOnce = Self.atOnce] in
      let outcome = Self.outcome(splice(source, nil, target, nil, count, atOnce), of: count)
      Glibc.close(source)
      if target >= 0 { Glibc.close(target) }
      return outcome
    } then: { [weak self] outcome in
      self?.isPassing = false
      self?.passed.take()?(outcome)
    }
    return .passing
  }

  /// Runs `then` with the outcome of what is being written.
  func whenPassed(_ then: @escaping (Outcome) -> Void) { passed = then }
}
