internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultWire

/// Bytes from standard input or a file, straight into memory that wipes itself.
enum FileInput {
  /// Reads a descriptor to its end.
  ///
  /// - Parameters:
  ///   - limit: the most bytes that are of use.
  ///   - name: what the source is called in an error.
  ///   - advice: what to do with more than that.
  /// - Throws: ``Failure`` when reading fails or there are more than `limit` bytes.
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

  /// Reads a file to its end; `-` is standard input.
  static func readFile(
    _ path: String, limit: Int, ofMore advice: String = "store less, or store it in parts"
  ) throws(Failure) -> SecretBuffer {
    if path == "-" { return try readAll(STDIN_FILENO, limit: limit, name: "standard input", ofMore: advice) }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw Failure(.io, "cannot open \(path): \(Output.describe(errno))") }
    defer { close(descriptor) }
    return try readAll(descriptor, limit: limit, name: path, ofMore: advice)
  }

  /// Reads a regular file to which nobody writes just now, and waits for nothing.
  static func readRegularFile(_ path: String, limit: Int) throws(Failure) -> SecretBuffer {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw Failure(.io, "cannot open \(path): \(Output.describe(errno))") }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(.invalid, "\(Printable.quoted(path)) is not a regular file", "name another")
    }
    let isWriting = Failure(.retry, "another program is writing \(Printable.text(path))")
    // Looked for before it is read and behind that, as in ``PresentFile``.
    guard vault_has_writer(descriptor) != 1 else { throw isWriting }
    let text = try readAll(descriptor, limit: limit, name: path)
    var after = stat()
    guard vault_has_writer(descriptor) != 1, unsafe fstat(descriptor, &after) == 0,
      FileIdentity(after) == FileIdentity(status)
    else { throw isWriting }
    return text
  }

  /// The text of a small regular file that holds no secret; nil when it cannot be read. What else may be there, such as a
  /// pipe that nobody writes to, is not waited for, and opening it has no effect.
  static func text(of path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let content = try? readAll(descriptor, limit: 64 * 1024, name: path)
    else { return nil }
    return content.withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      return String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
  }

  /// Reads what is there, at most `atMost` bytes, behind what `buffer` holds.
  ///
  /// - Returns: the count as read(2) gives it; errno says why it is negative.
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

  /// Room for the whole file and the read that finds its end, so that nothing grows and is copied.
  private static func sizeHint(_ descriptor: Int32, limit: Int) -> Int {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 65536 }
    return min(Int(status.st_size), limit) + 65536
  }
}
