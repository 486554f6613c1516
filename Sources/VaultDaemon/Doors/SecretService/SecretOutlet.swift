internal import CLinux
internal import Glibc

/// A descriptor that another program gave, for a secret to be written to.
///
/// Nothing here waits, whatever the program does with its copy of the descriptor: its flags, for example, are shared,
/// and may change at any time. Only pipes, Unix sockets and files in memory are taken. With any other file, even a
/// question about it may wait: for a disk, a network, or a program that serves a file system.
final class SecretOutlet {
  enum Outcome {
    case written
    /// There is no room now.
    case full
    /// The other end is closed, or the descriptor takes no secret.
    case failed
  }

  private enum Kind {
    case pipe, socket, memory
  }

  /// The most bytes of a secret. A pipe with any room, and a socket, take so many as a whole.
  static let longest = 4096
  // Numbers of linux/fcntl.h and asm/socket.h.
  private static let (pipeSize, seals, domain): (Int32, Int32, Int32) = (1032, 1034, 39)
  /// The flag SPLICE_F_NONBLOCK.
  private static let atOnce: UInt32 = 2

  private(set) var descriptor: Int32
  private let kind: Kind?

  /// Takes a descriptor over.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    kind = Self.kind(of: descriptor)
  }

  deinit { close() }

  func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  /// True if the descriptor may take a secret.
  var isUsable: Bool { kind != nil }

  private static func kind(of descriptor: Int32) -> Kind? {
    if fcntl(descriptor, pipeSize) >= 0 { return .pipe }
    var (family, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    if unsafe getsockopt(descriptor, SOL_SOCKET, domain, &family, &size) == 0 {
      // The internet is no place for it.
      return family == AF_UNIX ? .socket : nil
    }
    return fcntl(descriptor, seals) >= 0 ? .memory : nil
  }

  /// Writes all of a secret, or nothing.
  func write(_ value: RawSpan) -> Outcome {
    guard descriptor >= 0, value.byteCount > 0, value.byteCount <= Self.longest else { return .failed }
    // The bytes are valid for the calls.
    let count = unsafe value.withUnsafeBytes { bytes in
      switch kind {
      case .pipe: unsafe Self.pass(bytes, to: descriptor)
      case .socket: unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
      case .memory: unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
      case nil: -1
      }
    }
    if count == value.byteCount { return .written }
    return kind != nil && kind != .memory && count < 0 && (errno == EAGAIN || errno == EINTR) ? .full : .failed
  }

  /// Writes bytes to a pipe, through one of our own: write(2) would heed the pipe's flags, this heeds ours.
  private static func pass(_ bytes: UnsafeRawBufferPointer, to pipe: Int32) -> Int {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { return -1 }
    defer {
      let code = errno
      for end in ends { Glibc.close(end) }
      errno = code
    }
    guard unsafe Glibc.write(ends[1], bytes.baseAddress, bytes.count) == bytes.count else {
      errno = EIO
      return -1
    }
    return splice(ends[0], nil, pipe, nil, bytes.count, atOnce)
  }
}
