internal import CLinux
internal import Glibc

/// The settings of the faces.
struct FaceSettings {
  /// The program of the pinentry face; nil for the usual one.
  var pinentry: String?
  /// The program of the command face.
  var command: String?
}

/// The faces of one agent, in their order.
///
/// All but `tell` is called on the asking thread alone, and `tell` may be called on any (see ``Face``).
struct Faces: @unchecked Sendable {
  let all: [any Face]

  var names: [String] { all.map(\.name.rawValue) }

  /// Those of `names` that are here.
  static func make(_ names: [FaceName], _ settings: FaceSettings) -> Faces {
    Faces(all: names.compactMap { make($0, settings) })
  }

  /// The one place where a face is made; nil for one that is not here.
  private static func make(_ name: FaceName, _ settings: FaceSettings) -> (any Face)? {
    switch name {
    case .terminal: TerminalFace()
    case .pinentry: PinentryFace(settings.pinentry ?? PinentryFace.usualPath)
    case .notification, .command: nil
    }
  }

  /// The order where nothing else is said.
  static func usual(onTerminal: Bool, onDesktop: Bool, hasPinentry: Bool) -> [FaceName] {
    let pinentry: [FaceName] = hasPinentry ? [.pinentry] : []
    if onTerminal { return [.terminal] + (onDesktop ? [.notification] : []) + pinentry }
    return (onDesktop ? [.notification] : []) + pinentry
  }

  /// The order for this process.
  static func usual(_ settings: FaceSettings) -> [FaceName] {
    usual(
      onTerminal: OwnTerminal.path != nil,
      onDesktop: Environment.variable("DISPLAY") != nil || Environment.variable("WAYLAND_DISPLAY") != nil,
      hasPinentry: unsafe access(settings.pinentry ?? PinentryFace.usualPath, X_OK) == 0)
  }

  /// Tells of something by the first face that can.
  func tell(_ notice: Notice) { _ = all.first { $0.tell(notice) } }
}
