internal import Logging
internal import NIOCore
internal import VaultService

/// The services that tell the daemon that the person has left the machine, and warnings about services that cannot be
/// heard.
///
/// A user's vault locks when the machine sleeps, when one of the user's sessions locks, and when a screen locker on the
/// session bus covers the screen. The machine's vault locks only when the machine sleeps, because that vault belongs to
/// no session, and one person's screen is no reason to lock the vault for everybody.
final class LockTriggers {
  private let buses: Buses
  private let logind: Logind?
  private let screenSavers: ScreenSavers?
  private let isSystem: Bool

  /// Begins to listen. Call this on the loop.
  ///
  /// - Parameters:
  ///   - onSleep: runs before the machine sleeps. The sleep waits until `ready` is called.
  ///   - onLock: runs when the screen or the session was locked.
  init(
    on buses: Buses, system isSystem: Bool, uid: UInt32, onSleep: @escaping (_ ready: @escaping () -> Void) -> Void,
    onLock: @escaping (LockState.Cause) -> Void
  ) {
    self.buses = buses
    self.isSystem = isSystem
    logind = buses.system.map { bus in
      Logind(
        on: bus, sessions: isSystem ? .none : .of(uid: uid), onSleep: onSleep, onLock: { onLock(.sessionLock) })
    }
    screenSavers = buses.session.map { bus in ScreenSavers(on: bus) { name in onLock(.screenLock(name)) } }
    buses.system?.open()
    buses.session?.open()
  }

  /// The events that lock the vault besides its deadlines, as `Status` names them.
  var watched: [String] {
    guard logind?.isWatched == true else { return screenSavers?.watched ?? [] }
    return ["sleep"] + (isSystem ? [] : ["session-lock"]) + (screenSavers?.watched ?? [])
  }

  /// The events that cannot be heard, one sentence each.
  var warnings: [VaultWarning] { [sleepWarning, sessionWarning].compactMap { $0 } }

  private var sleepWarning: VaultWarning? {
    func warning(_ reason: String) -> VaultWarning {
      VaultWarning(
        .sleep,
        "\(reason), so a suspend is noticed only when the machine resumes"
          + (isSystem ? "" : ", and a session lock is not noticed at all"))
    }
    guard let bus = buses.system, bus.isConnected else { return warning("no system bus") }
    guard let logind, logind.isWatched else {
      let reason = logind?.doubt.map { "it is not known whether logind is on the system bus: \($0)" }
      return warning(reason ?? "no logind on the system bus")
    }
    return logind.inhibitorProblem.map {
      VaultWarning(.sleep, "logind does not wait for the keys to be wiped before the machine sleeps", $0)
    }
  }

  private var sessionWarning: VaultWarning? {
    if isSystem { return nil }
    func warning(_ text: String) -> VaultWarning {
      VaultWarning(.session, text, "let your screen locker run `vault lock`")
    }
    guard let bus = buses.session, bus.isConnected else { return warning("no session bus") }
    guard screenSavers?.watched.isEmpty == false else {
      let reason = screenSavers?.doubt.map { "it is not known whether a screen locker is on the session bus: \($0)" }
      return warning(reason ?? "no screen locker announces itself on the session bus")
    }
    return nil
  }
}
