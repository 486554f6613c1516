internal import CLinux
internal import Glibc
internal import VaultModel

/// The choice of a name on the terminal, from a list below the cursor. The list narrows while a person types, and is
/// removed afterwards.
struct Picker: ~Copyable {
  /// The milliseconds within which a terminal sends the rest of a key.
  private static let keyTime: Int32 = 50

  private let keyboard: Keyboard

  /// - Throws: ``Failure`` if there is no terminal to draw on.
  init() throws(Failure) {
    let otherwise = "name the item, as in \(Hint.vault("get NAME"))"
    guard let kind = Environment.variable("TERM"), !kind.isEmpty, kind != "dumb" else {
      throw .unasked("this terminal cannot move the cursor", advice: otherwise)
    }
    keyboard = try Keyboard(otherwise: otherwise)
  }

  /// Lets a person choose a name; returns nil if none was chosen.
  func pick(_ names: [String]) throws(Failure) -> String? {
    try keyboard.awaitTurn()
    let signals = try SignalPipe(SignalPipe.all + [SIGWINCH])
    var list = PickList(names)
    while true {
      switch try attempt(&list, signals) {
      case .chosen(let name): return name
      case .left: return nil
      case .signal(let number): signals.deliver(number)
      }
    }
  }

  private enum Attempt {
    case chosen(String)
    case left
    case signal(Int32)
  }

  /// Draws and reads until a choice or a signal. On return, the terminal has its earlier modes again.
  private func attempt(_ list: inout PickList, _ signals: borrowing SignalPipe) throws(Failure) -> Attempt {
    let modes = try TerminalModes(.hidden, of: keyboard.terminal)
    defer { _ = modes }
    var keys = PickKeys()
    if let number = search(&list, signals) { return .signal(number) }
    try draw(&list, signals)
    while true {
      let (number, isReadable) = try wait(signals, keys.isOpen ? Self.keyTime : -1)
      if let number, number != SIGWINCH {
        try clear()
        return .signal(number)
      }
      var typed: [PickKeys.Key] = []
      if isReadable {
        guard let bytes = read() else {
          try clear()
          return .left
        }
        typed = keys.take(bytes)
      } else if number == nil, let key = keys.close() {
        typed = [key]
      }
      for key in PickKeys.withoutPastedBreaks(typed) + [.redraw] {
        if !key.types, let number = search(&list, signals) {
          try clear()
          return .signal(number)
        }
        if key == .leave || (key == .enter && list.choice != nil) {
          try clear()
          return key == .enter ? list.choice.map { .chosen($0) } ?? .left : .left
        }
        list.take(key, height: PickList.height(rows: keyboard.size.rows))
      }
      try draw(&list, signals)
    }
  }

  /// Searches for the matching names; returns the number of a signal that came first. SIGWINCH does not count, because
  /// the list is drawn anew after the search.
  private func search(_ list: inout PickList, _ signals: borrowing SignalPipe) -> Int32? {
    var ending: Int32?
    list.search {
      while ending == nil, let number = signals.next() { if number != SIGWINCH { ending = number } }
      return ending != nil
    }
    return ending
  }

  /// Returns the typed bytes; nil if the terminal has reached its end.
  private func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = unsafe Glibc.read(keyboard.terminal, &bytes, bytes.count)
    if count > 0 { return Array(bytes.prefix(count)) }
    return count < 0 && (errno == EINTR || errno == EAGAIN) ? [] : nil
  }

  /// Waits for a key or a signal, at most `time` milliseconds.
  private func wait(_ signals: borrowing SignalPipe, _ time: Int32) throws(Failure) -> (Int32?, isReadable: Bool) {
    var polled = [
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: keyboard.terminal, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&polled, 2, time) < 0 {
      guard errno == EINTR else { throw Failure(.io, "cannot wait for the terminal: \(Output.describe(errno))") }
    }
    return (signals.next(), polled[1].revents != 0)
  }

  /// Draws all lines below the cursor, then puts the cursor behind the typed text.
  private func draw(_ list: inout PickList, _ signals: borrowing SignalPipe) throws(Failure) {
    let size = keyboard.size
    let lines = list.lines(columns: size.columns, rows: size.rows)
    let text = "\r\u{1B}[J" + lines.joined(separator: "\n")
    let back = "\u{1B}[\(lines.count - 1)A\r\u{1B}[\(TextWidth.columns(lines[0]))C"
    try write(text + back, .until(signals.descriptor))
  }

  /// Removes the list, unless the terminal takes no output.
  private func clear() throws(Failure) { try write("\r\u{1B}[J", .none) }

  private func write(_ text: String, _ patience: Output.Patience) throws(Failure) {
    try Output.write(unsafe text.utf8.span.bytes, to: keyboard.terminal, patience)
  }
}
