internal import Logging
internal import NIOCore

/// The services that tell the daemon that nobody sits at the machine any more, and what it cannot hear.
///
/// A user's vault locks with the machine's sleep, the locks of that user's sessions and the screen lockers on the
/// session bus. The machine's vault locks with the machine's sleep: it belongs to no session, and somebody's screen is
/// no reason to lock it for everybody.
final class LockTriggers {
  /// Also for others who ask something there; nil when its address is no Unix socket.
  let systemBus: Bus?

  private let logind: Logind?
  private let sessionBus: Bus?
  private let screenSavers: ScreenSavers?
  private let isSystem: Bool

  /// Begins to listen. Call on the service's loop.
  init(
    for service: Service, watcher: Watcher, system isSystem: Bool, uid: UInt32, environment: (String) -> String?
  ) throws(SystemError) {
    self.isSystem = isSystem
    func bus(_ name: String, _ address: BusAddress?) throws(SystemError) -> Bus? {
      guard let address else { return nil }
      return try Bus(
        name, at: address, on: service.loop, watcher: watcher, clock: service.clock, log: service.log)
    }
    systemBus = try bus("system", .system(environment))
    sessionBus = isSystem ? nil : try bus("session", .session(environment))
    logind = systemBus.map { bus in
      Logind(
        on: bus, sessions: isSystem ? .none : .of(uid: uid),
        onSleep: { [unowned service] ready in service.goToSleep(then: ready) },
        onLock: { [unowned service] in service.lock(because: .sessionLock) })
    }
    screenSavers = sessionBus.map { bus in
      ScreenSavers(on: bus) { [unowned service] name in service.lock(because: .screenLock(name)) }
    }
    systemBus?.open()
    sessionBus?.open()
  }

  /// The events that lock the vault beside its deadlines, in the words of `Status`.
  var watched: [String] {
    guard logind?.isWatched == true else { return screenSavers?.watched ?? [] }
    return ["sleep"] + (isSystem ? [] : ["session-lock"]) + (screenSavers?.watched ?? [])
  }

  /// The events that cannot be heard, one sentence each.
  var warnings: [String] { [sleepWarning, sessionWarning].compactMap { $0 } }

  private var sleepWarning: String? {
    let consequence =
      "a suspend is noticed only when the machine resumes" + (isSystem ? "" : ", the lock of a session not at all")
    guard let systemBus, systemBus.isConnected else { return "no system bus: \(consequence)" }
    guard let logind, logind.isWatched else { return "no logind on the system bus: \(consequence)" }
    return logind.inhibitorProblem.map {
      "logind does not wait for the keys to be wiped before the machine sleeps: \($0)"
    }
  }

  private var sessionWarning: String? {
    if isSystem { return nil }
    let advice = "let your screen locker run `vault lock`"
    guard let sessionBus, sessionBus.isConnected else { return "no session bus: \(advice)" }
    guard screenSavers?.watched.isEmpty == false else {
      return "no screen locker announces itself on the session bus: \(advice)"
    }
    return nil
  }
}
