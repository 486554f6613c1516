internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// Standard output and standard error, written with `write(2)`, so that no copy of a secret stays in a stdio buffer and
/// a full disk is reported as an error.
enum Output {
  /// The limit of a wait for a terminal that takes nothing at the moment, because control-S stopped it or its
  /// connection hangs.
  enum Patience {
    case endless
    /// Waits until this descriptor is readable, such as that of a ``SignalPipe``. A program that catches signals would
    /// not notice them during the wait otherwise.
    case until(Int32)
    case none
  }

  /// Writes bytes to standard output as they are. Bytes that do not fit before the patience ends are dropped.
  static func write(
    _ bytes: RawSpan, to descriptor: Int32 = STDOUT_FILENO, _ patience: Patience = .endless
  ) throws(Failure) {
    if case .endless = patience {} else { return try write(bytes, to: descriptor, whileThere: patience) }
    var rest = bytes
    while rest.byteCount > 0 {
      // The bytes are lent for one call.
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.extracting(droppingFirst: count)
      } else if errno == EAGAIN {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&polled, 1, -1)
      } else if errno != EINTR {
        throw failure(errno)
      }
    }
  }

  private static func write(
    _ bytes: RawSpan, to descriptor: Int32, whileThere patience: Patience
  ) throws(Failure) {
    var rest = bytes
    while rest.byteCount > 0, hasRoom(descriptor, patience) {
      let count = try writePart(of: rest, to: descriptor)
      if count == 0, case .none = patience { return }
      rest = rest.extracting(droppingFirst: count)
    }
  }

  /// Writes as many of the bytes as a descriptor takes without blocking, after poll(2) reported room.
  ///
  /// A larger write would block until all of the bytes are taken, even while signals are blocked.
  ///
  /// - Returns: the count of bytes written, which may be 0.
  static func writePart(of bytes: RawSpan, to descriptor: Int32) throws(Failure) -> Int {
    let part = bytes.extracting(first: min(bytes.byteCount, isatty(descriptor) == 1 ? terminalPart : pipePart))
    // The bytes are lent for one call.
    let count = unsafe part.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 { return count }
    guard errno == EAGAIN || errno == EINTR else { throw failure(errno) }
    return 0
  }

  /// PIPE_BUF in bytes: a pipe with any room takes this many at once.
  private static let pipePart = 4096
  /// The unit of the room that a terminal has, in bytes.
  private static let terminalPart = 256

  /// Waits until what was written has been taken: until a file is on the disk, and until the reader of a pipe has read
  /// everything. After ten seconds, this function assumes that the reader will read the rest, and returns.
  ///
  /// - Throws: the failure if the file cannot be written, or if the reader closes the pipe before it has read
  ///   everything.
  static func awaitTaken(_ descriptor: Int32 = STDOUT_FILENO) throws(Failure) {
    // For pipes and terminals, fsync(2) fails with EINVAL.
    if fsync(descriptor) != 0, errno != EINVAL, errno != EROFS { throw failure(errno) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return }
    for _ in 0..<1000 {
      var unread: Int32 = 0
      guard unsafe ioctl(descriptor, UInt(FIONREAD), &unread) == 0, unread > 0 else { return }
      var polled = pollfd(fd: descriptor, events: 0, revents: 0)
      if unsafe poll(&polled, 1, 10) > 0, polled.revents & Int16(POLLERR) != 0 { throw failure(EPIPE) }
    }
  }

  /// The failure of a write, from its error number.
  static func failure(_ code: Int32) -> Failure {
    let failure =
      code == EBADF
      ? Failure(.io, "cannot write the output: it is closed", "give the command an open standard output")
      : Failure(.io, "cannot write the output: \(describe(code))", "check the space or the other end of the pipe")
    errno = code
    return failure
  }

  /// Waits until a descriptor takes bytes or fails; returns false if the patience ends first.
  private static func hasRoom(_ descriptor: Int32, _ patience: Patience) -> Bool {
    var (stop, time): (Int32, Int32) = (-1, -1)
    switch patience {
    case .endless: break
    case .until(let descriptor): stop = descriptor
    case .none: time = 0
    }
    var polled = [
      pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0), pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&polled, 2, time) < 0, errno == EINTR {}
    return polled[0].revents != 0
  }

  /// Writes text to standard output: to a terminal through ``Printable/screen(_:)``, elsewhere byte for byte.
  static func text(_ text: String) throws(Failure) {
    let text = isTerminal ? Printable.screen(text) : text
    try write(unsafe text.utf8.span.bytes)
  }

  /// Writes a key or another text from the daemon to standard output, with a newline if it has none. A terminal gets it
  /// through ``Printable/line(_:)``, so that not even a color of the text takes effect; only a text in PEM keeps its
  /// lines. Elsewhere the text is written byte for byte.
  static func foreign(_ text: String) throws(Failure) {
    let text = text.hasSuffix("\n") ? String(text.dropLast()) : text
    guard isTerminal else { return try line(text) }
    try line(text.utf8.allSatisfy(isOfPEM) ? text : Printable.line(text))
  }

  /// Returns true for a byte that PEM (RFC 7468) uses. No informative line of this program consists of such bytes only.
  private static func isOfPEM(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: [UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "-"), 0x20, 0x0A].contains(byte)
    }
  }

  /// Refuses a value whose bytes a terminal would act on, if standard output is one.
  static func checkForTerminal(_ value: RawSpan, of item: String, _ advice: String) throws(Failure) {
    guard isTerminal, !value.isText else { return }
    throw Failure(.usage, "\(Printable.quoted(item)) is not text, and a terminal acts on such bytes", advice)
  }

  /// Writes a line to standard output.
  static func line(_ text: String) throws(Failure) { try Output.text(text + "\n") }

  /// Writes all lines to standard output in one call, so that a reader of the first line alone, such as head(1), gets
  /// the rest before it closes the pipe.
  static func lines(_ lines: [String]) throws(Failure) { try Output.text(lines.map { $0 + "\n" }.joined()) }

  /// Writes a JSON object and a newline to standard output.
  static func json(capacity: Int = 256, _ members: (inout JSONBuilder) throws(Failure) -> Void) throws(Failure) {
    var object = JSONBuilder(capacity: capacity)
    try members(&object)
    try json(object.take())
  }

  /// Writes a value of the daemon's interface and a newline to standard output.
  static func json(_ value: some WireValue) throws(Failure) { try json(value.jsonText()) }

  /// Writes a reply of the daemon that `body` writes with its secret, and a newline to standard output.
  static func reply(_ body: (inout JSONWriter) -> Void) throws(Failure) {
    var writer = JSONWriter(capacity: 1024)
    body(&writer)
    try json(writer.take())
  }

  /// Writes a value of the daemon's interface with one more member, and a newline, to standard output. The value must
  /// not be an empty object.
  static func json(_ value: some WireValue, _ key: StaticString, _ member: (some WireValue)?) throws(Failure) {
    guard let member else { return try json(value) }
    var object = value.jsonText()
    // The new member takes the place of the closing brace.
    object.truncate(to: object.count - 1)
    object.append(UInt8(ascii: ","))
    var writer = JSONWriter(appendingTo: object)
    writer.key(key)
    member.write(to: &writer)
    writer.endObject()
    try json(writer.take())
  }

  /// Writes one JSON value and a newline to standard output. For a terminal, it escapes the characters that a terminal
  /// would act on.
  static func json(_ value: consuming SecretBuffer) throws(Failure) {
    let line = jsonLine(value)
    try line.withBytes { bytes throws(Failure) in try write(bytes) }
  }

  /// The JSON value as a line.
  static func jsonLine(_ value: consuming SecretBuffer) -> SecretBuffer {
    var line = isTerminal ? value.withBytes { JSONEscapes.apply(to: $0) } : value
    line.append(UInt8(ascii: "\n"))
    return line
  }

  /// Writes a one-line message for a person to standard error; it is not part of the result. A closed standard error is
  /// ignored.
  static func note(_ text: String, _ patience: Patience = .endless) {
    try? write(unsafe "vault: \(Printable.line(text))\n".utf8.span.bytes, to: STDERR_FILENO, patience)
  }

  /// Shows a person the commands that come next.
  static func next(_ commands: [(command: String, purpose: String)]) {
    let width = commands.map(\.command.count).max() ?? 0
    let rows = commands.map {
      "  \($0.command)\(String(repeating: " ", count: width - $0.command.count + 2))\($0.purpose)\n"
    }
    try? write(unsafe "\nNext:\n\(rows.joined())".utf8.span.bytes, to: STDERR_FILENO)
  }

  /// Shows a person names that belong to the last message, each on its own line.
  static func note(names: [String], _ patience: Patience = .endless) {
    for name in names {
      try? write(unsafe "  \(Printable.whole(name))\n".utf8.span.bytes, to: STDERR_FILENO, patience)
    }
  }

  /// True if standard output is a terminal, so that tables, color and a final newline help.
  static let isTerminal = isatty(STDOUT_FILENO) == 1

  /// The columns of the terminal on standard output; nil if it is not a terminal.
  static var columns: Int? { isTerminal ? Keyboard.size(of: STDOUT_FILENO).columns : nil }

  /// The system's text for an error number.
  static func describe(_ code: Int32) -> String {
    // Copied at once: the next call of strerror(3) may reuse the buffer.
    unsafe String(cString: strerror(code))
  }
}
