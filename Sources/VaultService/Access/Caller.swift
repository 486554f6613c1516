/// A process that asks for something, as the kernel saw it when it connected.
///
/// Its own words about itself are kept apart: see ``Said``.
package struct Caller: Hashable, Sendable {
  /// The ways in which something is asked for.
  package enum Door: String, Sendable {
    case varlink
  }

  package var door: Door
  package var uid: UInt32
  /// All groups of the process, the effective one first.
  package var groups: [UInt32]
  package var pid: Int32
  /// The time at which it started, in clock ticks since boot; nil where that could not be told.
  package var started: UInt64?
  /// The unit of the system's service manager that it belongs to; nil where it belongs to none.
  package var unit: String?
  /// The scope in which its proofs of presence count; nil when that could not be told.
  package var session: AuthenticationSession?

  package init(
    door: Door, uid: UInt32, groups: [UInt32], pid: Int32, started: UInt64?, unit: String?,
    session: AuthenticationSession?
  ) {
    self.door = door
    self.uid = uid
    self.groups = groups
    self.pid = pid
    self.started = started
    self.unit = unit
    self.session = session
  }

  /// True when it belongs to a system service, where nobody sits.
  ///
  /// A user's own processes are in `user@UID.service` or a session scope.
  package var isSystemService: Bool {
    guard let unit else { return false }
    return unit.hasSuffix(".service") && !unit.hasPrefix("user@")
  }
}

/// A caller's own words about itself, which nobody has checked.
package struct Said: Sendable {
  /// The caller's words for what it wants something for.
  package var purpose: String?
  /// True when it says that a person is waiting.
  package var isInteractive: Bool

  package init(purpose: String? = nil, isInteractive: Bool? = nil) {
    self.purpose = purpose
    self.isInteractive = isInteractive ?? false
  }
}
