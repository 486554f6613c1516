internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// Reads bytes from standard input or a file straight into memory that wipes itself.
enum FileInput {
  /// Reads a descriptor to its end.
  ///
  /// - Parameters:
  ///   - limit: the most bytes that the caller can use.
  ///   - name: the name of the source in an error.
  ///   - advice: the advice if there are more bytes.
  /// - Throws: ``Failure`` if reading fails or there are more than `limit` bytes.
  static func readAll(
    _ descriptor: Int32, limit: Int, name: String, ofMore advice: String = "store less, or store it in parts"
  ) throws(Failure) -> SecretBuffer {
    var buffer = SecretBuffer(capacity: sizeHint(descriptor, limit: limit))
    while true {
      let count = read(descriptor, into: &buffer, atMost: 65536)
      if count == 0 { return buffer }
      if count < 0 {
        if errno == EINTR { continue }
        throw Failure(.io, "cannot read \(name): \(Output.describe(errno))")
      }
      if buffer.count > limit {
        throw Failure(.invalid, "\(name) holds more than \(limit) bytes", advice)
      }
    }
  }

  /// Reads a file to its end; `-` means standard input.
  static func readFile(
    _ path: String, limit: Int, ofMore advice: String = "store less, or store it in parts"
  ) throws(Failure) -> SecretBuffer {
    if path == "-" { return try readAll(STDIN_FILENO, limit: limit, name: "standard input", ofMore: advice) }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw cannotOpen(path, errno) }
    defer { close(descriptor) }
    guard !isClosedInput(descriptor) else { throw Failure(.io, "cannot read \(path): standard input is closed") }
    return try readAll(descriptor, limit: limit, name: path, ofMore: advice)
  }

  /// True for a file that stands in for a closed standard input, as `/dev/stdin` then does: its zeros have no end.
  private static func isClosedInput(_ descriptor: Int32) -> Bool {
    var (file, input) = (stat(), stat())
    guard unsafe fstat(descriptor, &file) == 0, unsafe fstat(STDIN_FILENO, &input) == 0 else { return false }
    let isReadable = fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE != O_WRONLY
    return !isReadable && file.st_mode & S_IFMT == S_IFCHR && file.st_rdev == input.st_rdev
  }

  private static func cannotOpen(_ path: String, _ code: Int32) -> Failure {
    if path.isEmpty { return Failure(.usage, "`` is not a file name", "name a file") }
    return Failure(.io, "cannot open \(path): \(Output.describe(code))")
  }

  /// Reads a regular file that no program has open for writing. Never blocks.
  static func readRegularFile(_ path: String, limit: Int) throws(Failure) -> SecretBuffer {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw cannotOpen(path, errno) }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(.invalid, "\(Printable.quoted(path)) is not a regular file", "name another file")
    }
    let isWriting = Failure(.retry, "another program is writing \(Printable.text(path))")
    // The check for a writer comes before and after the read, as in ``PresentFile``.
    guard vault_has_writer(descriptor) != 1 else { throw isWriting }
    let text = try readAll(descriptor, limit: limit, name: path)
    var after = stat()
    guard vault_has_writer(descriptor) != 1, unsafe fstat(descriptor, &after) == 0,
      FileIdentity(after) == FileIdentity(status)
    else { throw isWriting }
    return text
  }

  /// The text of a small regular file that holds no secret; nil if it cannot be read. Opening a file of another type,
  /// such as a pipe that nobody writes to, neither blocks nor has an effect.
  ///
  /// - Parameter limit: the most bytes of a small file.
  static func text(of path: String, limit: Int = 64 * 1024) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let content = try? readAll(descriptor, limit: limit, name: path)
    else { return nil }
    return content.withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      return String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
  }

  /// Reads the available bytes, at most `atMost`, and appends them to `buffer`.
  ///
  /// - Returns: the count as read(2) returns it; if it is negative, errno holds the reason.
  static func read(_ descriptor: Int32, into buffer: inout SecretBuffer, atMost: Int) -> Int {
    let held = buffer.count
    let count = buffer.append(count: atMost) { free in
      unsafe free.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
    }
    let code = errno
    buffer.truncate(to: held + max(0, count))
    errno = code
    return count
  }

  /// The capacity for the whole file and the last read that finds its end, so that the buffer never grows, which would
  /// copy it.
  private static func sizeHint(_ descriptor: Int32, limit: Int) -> Int {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 65536 }
    return min(Int(status.st_size), limit) + 65536
  }
}
