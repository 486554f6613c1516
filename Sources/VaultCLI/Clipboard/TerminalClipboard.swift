internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The clipboard of the terminal itself (OSC 52), if the programs between it and this one pass the text on.
enum TerminalClipboard {
  /// The reason why text for the terminal would not reach its clipboard, and the advice; nil if it may.
  static func obstacle() -> (reason: String, advice: String)? {
    obstacle(Environment.variable, passesOn: { tmuxSetting() })
  }

  /// - Parameters:
  ///   - variable: reads the environment.
  ///   - passesOn: asks tmux for its option `set-clipboard`; nil if there is no answer.
  static func obstacle(
    _ variable: (String) -> String?, passesOn: () -> String?
  ) -> (reason: String, advice: String)? {
    func isSet(_ name: String) -> Bool { !(variable(name) ?? "").isEmpty }
    let instead = "install wl-copy, xclip or xsel where there is a display, or print the value without --clip"
    if isSet("TMUX") {
      // `external`, the default of tmux, allows only tmux' own copies.
      guard let setting = passesOn(), setting != "on" else { return nil }
      return (
        "tmux does not pass on a program's text to the clipboard, because set-clipboard is \(Printable.line(setting))",
        "`tmux set-option -s set-clipboard on` changes that, or print the value without --clip"
      )
    }
    if isSet("STY") { return ("GNU screen does not pass on a program's text to the clipboard", instead) }
    switch variable("TERM") ?? "" {
    case "linux": return ("the console has none", instead)
    case "dumb": return ("this terminal has none", instead)
    default: return nil
    }
  }

  /// The reason why nobody can tell whether text for the terminal reaches its clipboard; nil if neither tmux nor screen
  /// seems to stand between this program and the terminal.
  static func doubt() -> String? { doubt(Environment.variable, passesOn: { tmuxSetting() }) }

  /// - Parameters: those of ``obstacle(_:passesOn:)``.
  static func doubt(_ variable: (String) -> String?, passesOn: () -> String?) -> String? {
    let isTmux = !(variable("TMUX") ?? "").isEmpty
    let type = variable("TERM") ?? ""
    // After a change of the user, the variables of tmux and screen are often gone, while TERM stays.
    guard isTmux ? passesOn() == nil : type.hasPrefix("tmux") || type.hasPrefix("screen") else { return nil }
    return "tmux and screen may drop it, and could not be asked"
  }

  private static func tmuxSetting() -> String? {
    guard let tmux = Tool.find("tmux") else { return nil }
    guard let answer = Tool.capture([tmux, "show-options", "-sv", "set-clipboard"], limit: 64) else { return nil }
    // The answer is one of three words, and no secret.
    let text = answer.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }
    let word = text.split(whereSeparator: \.isWhitespace).first.map(String.init)
    return word.flatMap { ["on", "off", "external"].contains($0) ? $0 : nil }
  }
}
