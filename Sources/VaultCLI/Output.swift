internal import CLinux
internal import Glibc
internal import VaultModel
internal import VaultWire

/// Standard output and standard error, written with `write(2)` so that no copy of a secret stays in a stdio buffer and
/// so that a full disk is an error.
enum Output {
  /// The end of a wait for a terminal that takes nothing for now: one that control-S has stopped, or a connection that hangs.
  enum Patience {
    case endless
    /// Until this descriptor is readable, as that of a ``SignalPipe`` is. A program that catches signals would otherwise not
    /// hear of them.
    case until(Int32)
    case none
  }

  /// Writes bytes as they are to standard output. Those for which there is no room when the patience ends are left out.
  static func write(
    _ bytes: RawSpan, to descriptor: Int32 = STDOUT_FILENO, _ patience: Patience = .endless
  ) throws(Failure) {
    if case .endless = patience {} else { return try write(bytes, to: descriptor, whileThere: patience) }
    var rest = bytes
    while rest.byteCount > 0 {
      // Lent for one call.
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

  /// Writes as much of `bytes` as a descriptor takes without waiting that poll(2) has told room of.
  ///
  /// A write of more would wait until all of it is taken, also where signals are blocked.
  ///
  /// - Returns: the count of bytes that were written, which may be 0.
  static func writePart(of bytes: RawSpan, to descriptor: Int32) throws(Failure) -> Int {
    let part = bytes.extracting(first: min(bytes.byteCount, isatty(descriptor) == 1 ? terminalPart : pipePart))
    // Lent for one call.
    let count = unsafe part.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 { return count }
    guard errno == EAGAIN || errno == EINTR else { throw failure(errno) }
    return 0
  }

  /// PIPE_BUF: a pipe that has room at all takes as many bytes at once.
  private static let pipePart = 4096
  /// The unit of the room that a terminal has.
  private static let terminalPart = 256

  /// The failure of a writing, by its error number.
  static func failure(_ code: Int32) -> Failure {
    let failure = Failure(
      .io, "cannot write the output: \(describe(code))", "see to the space or the other end of the pipe")
    errno = code
    return failure
  }

  /// Waits until a descriptor takes something, or fails; false when the patience ends first.
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

  /// Writes text to standard output: to a terminal as ``Printable/screen(_:)``, elsewhere byte for byte.
  static func text(_ text: String) throws(Failure) {
    let text = isTerminal ? Printable.screen(text) : text
    try write(unsafe text.utf8.span.bytes)
  }

  /// Writes a key or another text of a daemon's to standard output, and a line break where it ends without one: elsewhere than
  /// to a terminal byte for byte, and there as ``Printable/line(_:)``, so that not even a colour is taken from it. Only a
  /// text in PEM has lines there.
  static func foreign(_ text: String) throws(Failure) {
    let text = text.hasSuffix("\n") ? String(text.dropLast()) : text
    guard isTerminal else { return try line(text) }
    try line(text.utf8.allSatisfy(isOfPEM) ? text : Printable.line(text))
  }

  /// True for what PEM (RFC 7468) is made of; no line of ours that tells something has nothing else.
  private static func isOfPEM(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: [UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "-"), 0x20, 0x0A].contains(byte)
    }
  }

  /// Writes a line to standard output.
  static func line(_ text: String) throws(Failure) { try Output.text(text + "\n") }

  /// Writes one JSON value and a newline to standard output.
  static func json(_ body: (inout JSONWriter) -> Void) throws(Failure) {
    var writer = JSONWriter()
    body(&writer)
    try json(writer.take())
  }

  /// Writes what is one JSON value and a newline to standard output, so spelled that a terminal shows it as it is.
  static func json(_ value: consuming SecretBuffer) throws(Failure) {
    let line = jsonLine(value)
    try line.withBytes { bytes throws(Failure) in try write(bytes) }
  }

  /// That line.
  static func jsonLine(_ value: consuming SecretBuffer) -> SecretBuffer {
    var line = isTerminal ? value.withBytes { JSONEscapes.apply(to: $0) } : value
    line.append(UInt8(ascii: "\n"))
    return line
  }

  /// Tells a person something that is no part of the result, on one line. A closed standard error is not worth failing for.
  static func note(_ text: String, _ patience: Patience = .endless) {
    try? write(unsafe "vault: \(Printable.line(text))\n".utf8.span.bytes, to: STDERR_FILENO, patience)
  }

  /// Tells a person which commands come next.
  static func next(_ commands: [(command: String, purpose: String)]) {
    let width = commands.map(\.command.count).max() ?? 0
    let rows = commands.map {
      "  \($0.command)\(String(repeating: " ", count: width - $0.command.count + 2))\($0.purpose)\n"
    }
    try? write(unsafe "\nNext:\n\(rows.joined())".utf8.span.bytes, to: STDERR_FILENO)
  }

  /// Shows a person names that belong to what was told, each on a line of its own.
  static func note(names: [String], _ patience: Patience = .endless) {
    for name in names {
      try? write(unsafe "  \(Printable.line(name))\n".utf8.span.bytes, to: STDERR_FILENO, patience)
    }
  }

  /// True when standard output is a terminal, so that tables, colour and a final newline help.
  static let isTerminal = isatty(STDOUT_FILENO) == 1

  /// The columns of the terminal that standard output is; nil elsewhere.
  static var columns: Int? { isTerminal ? Keyboard.size(of: STDOUT_FILENO).columns : nil }

  /// The system's words for an error number.
  static func describe(_ code: Int32) -> String {
    // The client has one thread, so the static buffer is still ours while it is copied.
    unsafe String(cString: strerror(code))
  }
}
