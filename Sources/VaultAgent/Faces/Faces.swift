internal import CLinux
internal import Glibc
internal import VaultModel

/// The faces of one agent, in the order in which they are tried.
///
/// Only the asking thread calls their methods, except `tell`, which any thread may call (see ``Face``).
struct Faces: @unchecked Sendable {
  let all: [any Face]
  /// The ``TerminalHush`` of this process's terminal, which keeps typed text from being shown. All faces share it.
  let hush: TerminalHush

  var names: [String] { all.map(\.name.rawValue) }

  /// The faces that the settings name, or else the usual ones that are available here.
  static func make(_ settings: AgentSettings) -> Faces {
    let names = settings.faces ?? usual(settings)
    let hush = TerminalHush("/dev/tty")
    return Faces(all: names.compactMap { make($0, settings, hush) }, hush: hush)
  }

  /// The obstacles of the faces that cannot ask at present, each with the face's name.
  var obstacles: [String] {
    all.compactMap { face in face.obstacle.map { "\(face.name.rawValue): \(Printable.text($0))" } }
  }

  /// Makes one face; nil for the command face when no setting names a program. No other code makes a face.
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

  /// The order of the faces when no setting names one.
  static func usual(onTerminal: Bool, onDesktop: Bool, hasPinentry: Bool, hasCommand: Bool = false) -> [FaceName] {
    (hasCommand ? [.command] : []) + (onTerminal ? [.terminal] : []) + (onDesktop ? [.notification] : [])
      + (hasPinentry ? [.pinentry] : [])
  }

  /// The usual order for this process.
  private static func usual(_ settings: AgentSettings) -> [FaceName] {
    usual(
      onTerminal: OwnTerminal.path != nil,
      onDesktop: Environment.variable("DISPLAY") != nil || Environment.variable("WAYLAND_DISPLAY") != nil,
      hasPinentry: unsafe access(settings.pinentry ?? PinentryFace.usualPath, X_OK) == 0,
      hasCommand: settings.command != nil)
  }

  /// Shows a notice with the first face that can; false if none can.
  @discardableResult
  func tell(_ notice: Notice) -> Bool { all.contains { $0.tell(notice) } }
}
