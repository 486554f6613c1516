/// A process that asks for something, as the kernel saw it when it connected.
///
/// Its own words about itself are kept apart: see ``Said``.
package struct Caller: Hashable, Sendable {
  /// The ways in which something is asked for.
  package enum Door: String, Sendable {
    case varlink
    /// The service manager's socket for credentials.
    case credentials
    case sshAgent = "ssh-agent"
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
  /// The unit of its user's own service manager that it belongs to; nil where it belongs to none.
  package var userUnit: String?
  /// The scope in which its proofs of presence count; nil when that could not be told.
  package var session: AuthenticationSession?
  /// What is learned of it when it is first needed.
  package let memory: Memory

  package init(
    door: Door, uid: UInt32, groups: [UInt32], pid: Int32, started: UInt64?, unit: String?, userUnit: String? = nil,
    session: AuthenticationSession?, memory: Memory = Memory()
  ) {
    self.door = door
    self.uid = uid
    self.groups = groups
    self.pid = pid
    self.started = started
    self.unit = unit
    self.userUnit = userUnit
    self.session = session
    self.memory = memory
  }

  /// True when it belongs to a system service, where nobody sits.
  ///
  /// A user's own processes are in `user@UID.service` or a session scope.
  package var isSystemService: Bool {
    guard let unit else { return false }
    return unit.hasSuffix(".service") && !unit.hasPrefix("user@")
  }

  /// The unit that grants know it by: in the machine's vault that of the system's service manager, in a user's that of the user's own.
  /// A unit of the other manager that has the same name is another one.
  func grantedUnit(isSystem: Bool) -> String? { isSystem ? unit : userUnit }

  /// The caller as an item's creator and a version's writer are recorded: its uid, and the service that grants know it by if there is
  /// one. A user's session or terminal is no service.
  func author(isSystem: Bool) -> String {
    guard let unit = grantedUnit(isSystem: isSystem), unit.hasSuffix(".service"), !unit.hasPrefix("user@") else {
      return "user:\(uid)"
    }
    return "user:\(uid),unit:\(unit)"
  }

  /// What is learned of a caller when it is first needed, and kept for as long as it is connected.
  package final class Memory: Hashable, @unchecked Sendable {
    /// The path of the file that the process runs now; nil where that cannot be told.
    package let executable: () -> String?
    /// The same, or the path that the file had before it was removed or another took its place, as an upgrade does.
    package let formerExecutable: () -> String?
    /// The terminal of the process, and the names of it and of the processes that it comes from, itself first.
    package let ancestry: () -> (terminal: String?, chain: [String])
    /// The SHA-256 of that file, in hexadecimal; nil where that cannot be told.
    package let digest: () -> String?
    /// Its standing with ``Access``, for as long as that is the same.
    var standing: Standing?
    /// What the audit log knows of it.
    var audit = AuditMemory()
    /// The call that it is making.
    var passage = Passage()
    private var hashed: Hasher?

    /// A hash that has taken up what tells the process from others, for as long as this one runs: the same over all of its
    /// connections.
    func hasher(_ caller: Caller) -> Hasher {
      if let hashed { return hashed }
      var hasher = Hasher()
      hasher.combine(caller)
      hasher.combine(executable())
      hashed = hasher
      return hasher
    }

    package init(
      executable: @escaping () -> String? = { nil }, former: (() -> String?)? = nil,
      digest: @escaping () -> String? = { nil },
      ancestry: @escaping () -> (terminal: String?, chain: [String]) = { (nil, []) }
    ) {
      self.executable = executable
      formerExecutable = former ?? executable
      self.digest = digest
      self.ancestry = ancestry
    }

    /// True when something in it may name items.
    package var mayHoldNames: Bool { standing != nil || !passage.item.isEmpty || !passage.detail.isEmpty }

    /// Drops what names items.
    package func forgetNames() {
      standing = nil
      forgetPassageNames()
    }

    /// Forgets the call, which is over.
    func forgetPassage() {
      passage.terms = nil
      passage.isSettled = true
      forgetPassageNames()
    }

    private func forgetPassageNames() {
      (passage.item, passage.detail) = ("", "")
      passage.said = Said()
    }

    // It says nothing of the caller that the other fields do not.
    package static func == (left: Memory, right: Memory) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
  }
}

/// What is said of a call: the caller's own words about itself, which nobody has checked, and those of the door it came by.
package struct Said: Sendable {
  /// The caller's words for what it wants something for.
  package var purpose: String?
  /// The daemon's words for what the caller is about to do, where the door can tell; nothing of a caller's stands unquoted in them.
  package var task: String?
  /// True when it says that a person is waiting.
  package var isInteractive: Bool

  package init(purpose: String? = nil, task: String? = nil, isInteractive: Bool? = nil) {
    (self.purpose, self.task) = (purpose, task)
    self.isInteractive = isInteractive ?? false
  }
}
