package import VaultModel

/// A process that asks for something, as the kernel described the process when it connected.
///
/// The caller's own words about itself are kept apart, in ``Said``.
package struct Caller: Hashable, Sendable {
  /// The doors of the daemon by which a request comes in.
  package typealias Door = AuditDoor

  /// The facts about the process. They are kept once, because a caller is handed on many times in each call.
  private final class Facts: Sendable {
    let identity: Identity
    let memory: Memory
    let passage: Passage

    init(_ identity: Identity, _ memory: Memory, _ passage: Passage) {
      (self.identity, self.memory, self.passage) = (identity, memory, passage)
    }
  }

  /// The facts that tell one caller from another.
  private struct Identity: Hashable, Sendable {
    var door: Door
    var uid: UInt32
    var groups: [UInt32]
    var pid: Int32
    var started: UInt64?
    var unit: String?
    var userUnit: String?
    var session: AuthenticationSession?
  }

  private var facts: Facts

  private var identity: Identity {
    get { facts.identity }
    set { facts = Facts(newValue, facts.memory, facts.passage) }
  }

  package var door: Door {
    get { facts.identity.door }
    set { identity.door = newValue }
  }

  package var uid: UInt32 { facts.identity.uid }

  /// All groups of the process, the effective one first.
  package var groups: [UInt32] {
    get { facts.identity.groups }
    set { identity.groups = newValue }
  }

  package var pid: Int32 { facts.identity.pid }

  /// The start time of the process, in clock ticks since boot; nil if it could not be determined.
  package var started: UInt64? {
    get { facts.identity.started }
    set { identity.started = newValue }
  }

  /// The unit of the system's service manager that the process belongs to; nil for none.
  package var unit: String? {
    get { facts.identity.unit }
    set { identity.unit = newValue }
  }

  /// The unit of the user's service manager that the process belongs to; nil for none.
  package var userUnit: String? {
    get { facts.identity.userUnit }
    set { identity.userUnit = newValue }
  }

  /// The scope in which the caller's proofs of presence count; nil if it could not be determined.
  package var session: AuthenticationSession? {
    get { facts.identity.session }
    set { identity.session = newValue }
  }

  /// The facts about the caller that are determined when they are first needed.
  package var memory: Memory { facts.memory }

  /// The call that is made as this caller.
  var passage: Passage { facts.passage }

  /// The same caller with a passage of its own for one call, on a connection that does other things while the call is
  /// under way. The entries of the call and of the other things are kept apart.
  package func forCall() -> Caller {
    var caller = self
    caller.facts = Facts(facts.identity, facts.memory, Passage())
    return caller
  }

  /// The same caller for one call that came after its process had ended. Another process may have its number by now, so
  /// nothing more is found out about it.
  package func whenEnded() -> Caller {
    var caller = self
    caller.facts = Facts(facts.identity, Memory(), Passage())
    return caller
  }

  /// True when what is known about the caller and its call may name items.
  package var mayHoldNames: Bool { memory.mayHoldNames || passage.mayHoldNames }

  /// Drops everything that names items.
  package func forgetNames() {
    memory.forgetNames()
    passage.forgetNames()
  }

  package init(
    door: Door, uid: UInt32, groups: [UInt32], pid: Int32, started: UInt64?, unit: String?, userUnit: String? = nil,
    session: AuthenticationSession?, memory: Memory = Memory()
  ) {
    let identity = Identity(
      door: door, uid: uid, groups: groups, pid: pid, started: started, unit: unit, userUnit: userUnit,
      session: session)
    facts = Facts(identity, memory, Passage())
  }

  package static func == (left: Caller, right: Caller) -> Bool {
    left.facts === right.facts || left.identity == right.identity
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(identity) }

  /// True when the caller belongs to a system service, where no person sits.
  ///
  /// A user's own processes are in `user@UID.service` or a session scope.
  package var isSystemService: Bool {
    guard let unit else { return false }
    return unit.hasSuffix(".service") && !unit.hasPrefix("user@")
  }

  /// The unit by which grants know the caller: in the machine's vault the unit of the system's service manager, in a
  /// user's vault the unit of the user's service manager. A unit of the other manager with the same name is a different
  /// unit.
  func grantedUnit(isSystem: Bool) -> String? { isSystem ? unit : userUnit }

  /// The caller, as recorded as an item's creator and a version's writer: its uid, and its service if it has one. A
  /// user's session or terminal is no service.
  func author(isSystem: Bool) -> String {
    guard let unit = grantedUnit(isSystem: isSystem), unit.hasSuffix(".service"), !unit.hasPrefix("user@") else {
      return "user:\(uid)"
    }
    return "user:\(uid),unit:\(unit)"
  }

  /// The facts about a caller that are determined when they are first needed, and kept for as long as it is connected.
  package final class Memory: Hashable, @unchecked Sendable {
    /// The path of the file that the process runs now; nil if it cannot be determined.
    package let executable: () -> String?
    /// The path of the file that the process runs or, if the file was removed or replaced, as by an upgrade, the path
    /// that it had before.
    package let formerExecutable: () -> String?
    /// The terminal of the process, and the names of the process and its ancestors, the process first.
    package private(set) lazy var ancestry = readAncestry()
    private let readAncestry: () -> (terminal: String?, chain: [String])
    /// The digest of the file that the process runs. The file is read once, and only if a grant asks for that:
    /// ``Access/awaitsDigest(of:)``.
    package private(set) var digest = ProgramDigest.unread
    private let readDigest: (@escaping (ProgramDigest) -> Void) -> Void
    /// The work that waits for the digest; nil while the file is not being read.
    private var awaiting: [() -> Void]?
    /// True if rights of the caller depend on the digest, at a revision of the grants.
    var needsDigest: (revision: Int, isSo: Bool)?
    /// The caller's standing with ``Access``, for as long as the grants stay the same.
    var standing: Standing?
    /// The subject under which the caller asks for rights that it has no grant for, at a revision of the grants.
    var asking: (revision: Int, subject: Subject?)?
    /// The audit log's own notes on the caller.
    var audit = AuditMemory()
    private var hashed: Hasher?

    /// A hash of what identifies the process while it runs. It is the same for all of its connections to one door.
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
      digest readDigest: @escaping (@escaping (ProgramDigest) -> Void) -> Void = { $0(.known(nil)) },
      ancestry readAncestry: @escaping () -> (terminal: String?, chain: [String]) = { (nil, []) }
    ) {
      self.executable = executable
      formerExecutable = former ?? executable
      self.readDigest = readDigest
      self.readAncestry = readAncestry
    }

    /// Starts to read the file that the process runs, and runs `then` when the digest is known, or when it is certain
    /// that the digest will not be known in time.
    package func whenDigestIsKnown(_ then: @escaping () -> Void) {
      guard digest == .unread else { return then() }
      let isBegun = awaiting != nil
      awaiting = (awaiting ?? []) + [then]
      // The closure may outlive the connection, but nothing that names an item may.
      if !isBegun { readDigest { [weak self] in self?.take($0) } }
    }

    /// Takes the digest, and drops what was determined without it.
    private func take(_ digest: ProgramDigest) {
      self.digest = digest
      (standing, asking, audit.subject) = (nil, nil, nil)
      let works = awaiting.take() ?? []
      for work in works { work() }
    }

    /// True when these facts may name items.
    fileprivate var mayHoldNames: Bool { standing != nil }

    /// Drops the facts that name items.
    fileprivate func forgetNames() { (standing, asking) = (nil, nil) }

    // All memories are equal: what identifies a caller is in its other fields.
    package static func == (left: Memory, right: Memory) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
  }
}

/// The words that come with a call: the caller's own words about itself, which nobody has checked, and the words of the
/// door by which the call came.
package struct Said: Sendable {
  /// The purpose of the call, in the caller's words.
  package var purpose: String?
  /// The caller's next action in the daemon's words, if the door can tell it. The caller's own words appear in it only
  /// in quotation marks.
  package var task: String?
  /// True if the task names an item.
  package var namesItem = false
  /// True when the caller says that a person is waiting.
  package var isInteractive: Bool

  package init(purpose: String? = nil, task: String? = nil, isInteractive: Bool? = nil) {
    (self.purpose, self.task) = (purpose, task)
    self.isInteractive = isInteractive ?? false
  }
}
