internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The desktop's clipboard, reached through installed tools. A value always goes to a tool's standard input.
enum Clipboard {
  /// The seconds for which a value stays on the clipboard.
  static let lifetime: UInt32 = 45

  /// A program that can set, read and clear the clipboard.
  enum Provider: String, CaseIterable {
    case wlCopy = "wl-copy"
    case xclip
    case xsel

    /// True if there is a display that the program could reach.
    var hasDisplay: Bool {
      let variable = self == .wlCopy ? "WAYLAND_DISPLAY" : "DISPLAY"
      return !(Environment.variable(variable) ?? "").isEmpty
    }

    fileprivate func command(_ action: Action) -> [String]? {
      let program = self == .wlCopy && action == .paste ? "wl-paste" : rawValue
      guard let path = Tool.find(program) else { return nil }
      let options =
        switch (self, action) {
        case (.wlCopy, .copy): ["--sensitive"]
        case (.wlCopy, .paste): ["--no-newline"]
        case (.wlCopy, .clear): ["--clear"]
        case (.xclip, .copy), (.xclip, .clear): ["-selection", "clipboard", "-in"]
        case (.xclip, .paste): ["-selection", "clipboard", "-out"]
        case (.xsel, .copy): ["--clipboard", "--input"]
        case (.xsel, .paste): ["--clipboard", "--output"]
        case (.xsel, .clear): ["--clipboard", "--clear"]
        }
      return [path] + options
    }
  }

  fileprivate enum Action { case copy, paste, clear }

  /// Puts a value on the clipboard and arranges for its removal.
  ///
  /// - Returns: the message for the person.
  static func put(_ value: borrowing SecretBuffer) throws(Failure) -> String {
    for provider in Provider.allCases where provider.hasDisplay {
      guard let command = provider.command(.copy) else { continue }
      return try value.withBytes { bytes throws(Failure) in try copy(provider, command, bytes) }
    }
    return try putThroughTerminal(value)
  }

  private static func copy(_ provider: Provider, _ command: [String], _ value: RawSpan) throws(Failure) -> String {
    let options = provider == .wlCopy ? Array(command.dropFirst()) : []
    // Only wl-copy 2.3 and later know --sensitive, which keeps clipboard histories from storing the value.
    let plain = Array(command.prefix(1)) + (provider == .wlCopy ? [] : command.dropFirst())
    var outcome = Tool.feed(command, value)
    if outcome == .failed, !options.isEmpty { outcome = Tool.feed(plain, value) }
    switch outcome {
    case .done: break
    case .failed: throw Failure(.io, "\(provider.rawValue) failed", "print the value instead, without --clip")
    case .late:
      throw Failure(
        .io, "\(provider.rawValue) did not end within \(Tool.patience / 1000) s and was killed",
        "check the display, or print the value instead, without --clip")
    }
    // If the clipboard cannot be read later, it might hold another text by then, so it is never cleared.
    guard provider.command(.paste) != nil, provider.command(.clear) != nil else {
      return "copied; it will not be cleared automatically, because wl-paste is not installed"
    }
    if Tool.detach(["/proc/self/exe", forgetCommand, provider.rawValue, String(lifetime)], value) {
      return "copied; the clipboard is cleared in \(lifetime) s unless it has changed by then"
    }
    // Otherwise nobody would remove the value.
    let isCleared = provider.command(.clear).map { Tool.feed($0, RawSpan()) } == .done
    throw Failure(
      .io,
      "the clipboard could not be cleared later, so \(isCleared ? "nothing is left on it" : "clear it now yourself")",
      "print the value instead, without --clip")
  }

  /// Throws if there is no clipboard, before a value is made for it or a person is asked.
  static func check() throws(Failure) {
    if Provider.allCases.contains(where: { $0.hasDisplay && $0.command(.copy) != nil }) { return }
    try checkTerminal()
  }

  private static func checkTerminal() throws(Failure) {
    guard Keyboard.isAttended else {
      throw Failure(
        .unavailable, "there is no clipboard: no display with wl-copy, xclip or xsel", "install one of them")
    }
    if let obstacle = TerminalClipboard.obstacle() {
      throw Failure(.unavailable, "there is no clipboard: \(obstacle.reason)", obstacle.advice)
    }
  }

  /// Sends the value to the terminal itself (OSC 52), which also works over a remote shell. The clipboard cannot be
  /// read back to check for the value, so it is not cleared later.
  private static func putThroughTerminal(_ value: borrowing SecretBuffer) throws(Failure) -> String {
    try checkTerminal()
    let keyboard = try Keyboard(otherwise: "install wl-copy, xclip or xsel")
    var sequence = SecretBuffer(capacity: Base64.encodedCount(value.count) + 16)
    sequence.append("\u{1B}]52;c;" as StaticString)
    value.withBytes { bytes in
      sequence.append(count: Base64.encodedCount(bytes.byteCount)) { Base64.encode(bytes, into: &$0) }
    }
    sequence.append(0x07)
    try sequence.withBytes { bytes throws(Failure) in try keyboard.show(bytes) }
    let doubt = TerminalClipboard.doubt().map { ": \($0)" } ?? ""
    return
      "sent to the terminal for its clipboard, if it accepts that (OSC 52)\(doubt); it will not be cleared "
      + "automatically"
  }

  // MARK: Forgetting

  /// The hidden command of the process that clears the clipboard.
  static let forgetCommand = "__forget-clipboard"

  /// Waits, then clears the clipboard if it still holds the text from standard input.
  static func forget(_ arguments: ArraySlice<String>) throws(Failure) {
    guard arguments.count == 2, let provider = arguments.first.flatMap(Provider.init(rawValue:)),
      let seconds = arguments.last.flatMap(UInt32.init),
      let paste = provider.command(.paste), let clear = provider.command(.clear)
    else { throw Failure(.usage, "\(forgetCommand) is for vault itself", "use vault get --clip") }
    let value = try FileInput.readAll(STDIN_FILENO, limit: 4 << 20, name: "standard input")
    var left = seconds
    while left > 0 { left = sleep(left) }
    guard let present = Tool.capture(paste, limit: value.count), present.isEqual(to: value) else { return }
    _ = Tool.feed(clear, RawSpan())
  }
}
