internal import Glibc

/// The connection to logind (org.freedesktop.login1), which reports session locks and sleep. A delay inhibitor holds
/// the sleep back until the keys are gone.
///
/// See org.freedesktop.login1(5), and <https://systemd.io/INHIBITOR_LOCKS/> for the order: the inhibitor is taken
/// before it is needed, closed when the daemon is ready, and taken again after the resume.
final class Logind {
  /// The sessions whose locks count.
  enum Sessions {
    /// None, for the machine's vault, which belongs to no session.
    case none
    case of(uid: UInt32)
  }

  /// The reason why logind does not wait for the keys to be wiped; nil if it waits.
  private(set) var inhibitorProblem: String?
  /// True when logind is known to be on the bus.
  var isWatched: Bool { name.owner != nil }
  /// The reason why nobody knows whether logind is on the bus; nil if that is known.
  var doubt: String? { name.doubt }

  private let bus: Bus
  private let name: BusName
  private let sessions: Sessions
  private let onSleep: (_ ready: @escaping () -> Void) -> Void
  private let onLock: () -> Void
  private var inhibitor: Int32?
  private var isAsleep = false

  private static let session = "org.freedesktop.login1.Session"

  /// - Parameters:
  ///   - onSleep: runs before the machine sleeps. The machine sleeps soon after `ready` is called.
  ///   - onLock: runs when one of `sessions` was locked.
  init(
    on bus: Bus, sessions: Sessions, onSleep: @escaping (_ ready: @escaping () -> Void) -> Void,
    onLock: @escaping () -> Void
  ) {
    self.bus = bus
    self.sessions = sessions
    self.onSleep = onSleep
    self.onLock = onLock
    name = BusName("org.freedesktop.login1", on: bus)
    name.onChange = { [unowned self] in ownerChanged() }
    name.onSignal("org.freedesktop.login1.Manager", "PrepareForSleep") { [unowned self] message in
      if let isStart = try? message.flag() { prepare(isStart) }
    }
    guard case .of(let uid) = sessions else { return }
    name.onSignal(Self.session, "Lock") { [unowned self] message in lockIfOwn(message.path, uid) }
    name.onSignal("org.freedesktop.DBus.Properties", "PropertiesChanged", first: Self.session) {
      [unowned self] message in
      if (try? Self.saysLocked(message)) == true { lockIfOwn(message.path, uid) }
    }
  }

  // MARK: Sleep

  private var manager: BusMethod.Object {
    name.object("/org/freedesktop/login1", "org.freedesktop.login1.Manager")
  }

  private func ownerChanged() {
    isAsleep = false
    guard isWatched else {
      // Nobody could tell the daemon any more when to release the inhibitor.
      inhibitor.map { _ = close($0) }
      inhibitor = nil
      return
    }
    inhibit()
    if case .of(let uid) = sessions { catchUp(uid) }
  }

  private func prepare(_ isStart: Bool) {
    isAsleep = isStart
    guard isStart else { return inhibit() }
    let held = inhibitor
    inhibitor = nil
    onSleep { held.map { _ = close($0) } }
  }

  private func inhibit() {
    let arguments = ["sleep", "vault", "wipe the keys before the machine sleeps", "delay"]
    bus.files.expect()
    bus.call(manager.method("Inhibit"), arguments.map { .string($0) }) { [weak self, files = bus.files] result in
      files.expectNoMore()
      self?.take(Result { () throws(BusError) in try result.get().file() })
    }
  }

  private func take(_ result: Result<Int32, BusError>) {
    switch result {
    case .failure(let error): inhibitorProblem = "\(error)"
    case .success(let descriptor):
      inhibitorProblem = nil
      // An inhibitor that arrives when the machine is already going to sleep would only delay the sleep.
      if isAsleep || !isWatched {
        close(descriptor)
      } else {
        inhibitor.map { _ = close($0) }
        inhibitor = descriptor
      }
    }
  }

  // MARK: Sessions

  /// Returns true when a PropertiesChanged says that the session is locked now.
  private static func saysLocked(_ message: BusMessage) throws(BusError) -> Bool {
    _ = try message.string()
    let changes = try message.array(of: "{sv}") { () throws(BusError) in
      try message.entry(of: "sv") { () throws(BusError) in
        guard try message.string() == "LockedHint" else {
          try message.skip()
          return false
        }
        return try message.variant(of: "b", message.flag)
      }
    }
    return changes.contains(true)
  }

  /// Locks if the session belongs to `uid`, and also if its owner cannot be found out.
  private func lockIfOwn(_ path: String?, _ uid: UInt32) {
    guard let path else { return }
    bus.property("User", of: name.object(path, Self.session)) { [weak self] result in
      let owner = try? result.get().user()
      if owner == nil || owner == uid { self?.onLock() }
    }
  }

  /// Locks the vault if a session of the user was locked before logind could be heard.
  private func catchUp(_ uid: UInt32) {
    bus.call(manager.method("ListSessions"), starts: false) { [weak self] result in
      for path in (try? result.get().sessions(of: uid)) ?? [] { self?.lockIfLocked(path) }
    }
  }

  private func lockIfLocked(_ path: String) {
    bus.property("LockedHint", of: name.object(path, Self.session)) { [weak self] result in
      guard let reply = try? result.get(), (try? reply.variant(of: "b", reply.flag)) == true else { return }
      self?.onLock()
    }
  }
}

extension BusMessage {
  /// The uid in a session's property `User`.
  fileprivate func user() throws(BusError) -> UInt32 {
    try variant(of: "(uo)") { () throws(BusError) in
      try structure(of: "uo") { () throws(BusError) in
        let uid = try unsigned()
        try skip()
        return uid
      }
    }
  }

  /// The paths of the sessions of `uid` in the reply of ListSessions.
  fileprivate func sessions(of uid: UInt32) throws(BusError) -> [String] {
    try array(of: "(susso)") { () throws(BusError) in
      try structure(of: "susso") { () throws(BusError) in
        try skip()
        let user = try unsigned()
        try skip()
        try skip()
        let path = try objectPath()
        return user == uid ? path : nil
      }
    }.compactMap { $0 }
  }
}
