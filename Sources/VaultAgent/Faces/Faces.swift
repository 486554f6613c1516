internal import CLinux
internal import Glibc

/// The faces of one agent, in their order.
///
/// All but `tell` is called on the asking thread alone, and `tell` may be called on any (see ``Face``).
struct Faces: @unchecked Sendable {
  let all: [any Face]
  /// The hush of the terminal of this process, which all faces share.
  let hush: TerminalHush

  var names: [String] { all.map(\.name.rawValue) }

  /// Those that the settings name, or else those that are here.
  static func make(_ settings: AgentSettings) -> Faces {
    let names = settings.faces ?? usual(settings)
    let hush = TerminalHush("/dev/tty")
    return Faces(all: names.compactMap { make($0, settings, hush) }, hush: hush)
  }

  /// The one place where a face is made; nil for a command that no setting names.
  private static func make(
    _ name: FaceName, _ settings: AgentSettings, _ hush: TerminalHush
  ) -> (any Face)? {
    switch name {
    case .terminal: TerminalFace("/dev/tty", hush)
    case .pinentry: PinentryFace(settings.pinentry ?? PinentryFace.usualPath, .own, hush)
    case .notification: NotificationFace()
    case .command: settings.command.map { CommandFace(program: $0) }
    }
  }

  /// The order where nothing else is said.
  static func usual(onTerminal: Bool, onDesktop: Bool, hasPinentry: Bool, hasCommand: Bool = false) -> [FaceName] {
    (hasCommand ? [.command] : []) + (onTerminal ? [.terminal] : []) + (onDesktop ? [.notification] : [])
      + (hasPinentry ? [.pinentry] : [])
  }

  /// The order for this process.
  private static func usual(_ settings: AgentSettings) -> [FaceName] {
    usual(
      onTerminal: OwnTerminal.path != nil,
      onDesktop: Environment.variable("DISPLAY") != nil || Environment.variable("WAYLAND_DISPLAY") != nil,
      hasPinentry: unsafe access(settings.pinentry ?? PinentryFace.usualPath, X_OK) == 0,
      hasCommand: settings.command != nil)
  }

  /// Tells of something by the first face that can.
  func tell(_ notice: Notice) { _ = all.first { $0.tell(notice) } }
}
