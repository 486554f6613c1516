import VaultModel

@testable import VaultService

/// The rooms of a vault, agents that record their events, and calls that wait for a person.
final class AttendanceStand {
  /// An agent, and the events that it received.
  final class Listener {
    fileprivate(set) var agent: Agent?
    /// The events in order: `attending`, `unlock COUNT`, `presence NAME COUNT`, `approval NAME COUNT`, `confirmation
    /// COUNT`, `withdrawn WHY` and `notice KIND`.
    var told: [String] = []
    var numbers: [QuestionNumber] = []
    var askers: [Asker] = []
    /// For each current asker, the daemon's words and the asker's own words.
    var words: [String] = []
    var isRefused = false
    /// False if the agent accepts no more events.
    var reads = true

    /// Returns the events since the last call of this function.
    func take() -> [String] {
      defer { told = [] }
      return told
    }

    fileprivate func note(_ event: AttendanceEvent) -> Bool {
      guard reads else { return false }
      switch event {
      case .attending: told.append("attending")
      case .inquiry(let inquiry):
        told.append(([inquiry.about, inquiry.name].compactMap { $0 } + ["\(inquiry.count)"]).joined(separator: " "))
        numbers.append(inquiry.number)
        askers = inquiry.askers.map(\.asker)
        words = inquiry.askers.map { "\($0.task ?? "") \($0.words)" }
      case .withdrawn(_, let why): told.append("withdrawn \(why.rawValue)")
      case .notice(.locking(let reason, let at)): told.append("notice locking \(reason.rawValue) \(at)")
      case .notice(.state(let state)): told.append("notice \(state.kind.rawValue)")
      case .notice(.failedUnlock(let asker)): told.append("notice failed-unlock \(asker.uid)")
      case .notice(.integrity(let reason)): told.append("notice integrity \(reason)")
      }
      return true
    }
  }

  /// A call that waits, and its outcome so far.
  final class Call {
    fileprivate(set) var waiter: Waiter?
    fileprivate(set) var joined = ""
    fileprivate(set) var end: Waiter.End?

    /// Makes the call stop waiting.
    func leave() { waiter = nil }

    fileprivate func give(up end: Waiter.End) {
      self.end = end
      waiter = nil
    }
  }

  let rooms: RoomStand

  /// - Parameter made: called with the path of the store before it is opened.
  init(
    _ settings: VaultSettings = VaultSettings(), system: Bool = false, made: (String) -> Void = { _ in }
  ) throws {
    rooms = try RoomStand.unlocked(settings, system: system, made: made)
    rooms.vault.hooks.announce = { [attendance] in attendance.happened($0) }
    rooms.vault.hooks.accessChanged = { [attendance] in attendance.reconsider() }
  }

  var attendance: Attendance { rooms.rooms.attendance }
  var vault: Vault { rooms.vault }

  static func process(_ pid: Int32, uid: UInt32 = RoomStand.owner, executable: String? = nil) -> Caller {
    var caller = RoomStand.caller(uid, session: pid, executable: executable)
    caller.started = UInt64(pid)
    return caller
  }

  func attend(_ caller: Caller = process(10), faces: [String] = ["terminal"]) throws(Refusal) -> Listener {
    let listener = Listener()
    let agent = try attendance.attend(faces, for: caller) { _ in
      listener.isRefused = true
    } send: {
      listener.note($0)
    }
    listener.agent = agent
    attendance.begin(agent)
    return listener
  }

  func leave(_ listener: Listener) { if let agent = listener.agent { attendance.end(agent) } }

  private func call(
    waitsAnyway: Bool = false, _ join: (@escaping (Waiter.End) -> Void) -> Attendance.Joined
  ) -> Call {
    let call = Call()
    switch join({ [weak call] end in if !waitsAnyway { call?.give(up: end) } }) {
    case .waits(let waiter): (call.waiter, call.joined) = (waiter, "waits")
    case .isDismissed(let waiter): (call.waiter, call.joined) = (waiter, "dismissed")
    case .nobody: call.joined = "nobody"
    }
    return call
  }

  func askUnlock(_ caller: Caller = process(50), waitsAnyway: Bool = false) -> Call {
    call(waitsAnyway: waitsAnyway) {
      attendance.join(.unlock, caller, Said(purpose: "to work"), waitsAnyway: waitsAnyway, giveUp: $0)
    }
  }

  func askPresence(_ name: String, _ caller: Caller = process(50)) throws -> Call {
    let name = try ItemName(name)
    return call { attendance.join(.presence(name, .password), caller, Said(purpose: "to work"), giveUp: $0) }
  }

  func askConfirmation(_ fingerprint: String, _ caller: Caller = process(50)) -> Call {
    call { attendance.join(.confirmation(fingerprint), caller, Said(task: "a signature"), giveUp: $0) }
  }

  func askApproval(_ number: QuestionNumber, _ caller: Caller) -> Call {
    call { attendance.join(.approval(number), caller, Said(purpose: "to work"), giveUp: $0) }
  }

  /// Runs a turn of the loop, in which agents receive new events.
  func turn() { rooms.hands.pass(0) }

  func lock() { vault.lock(because: .asked) }
}
