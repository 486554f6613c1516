internal import VaultModel
internal import VaultService

/// A call of the portal that waits: for all that the portal lacks, and then for room in the descriptor of the program
/// that is to get its secret.
///
/// Meanwhile nothing here has the secret. Only when it can be written is the read decided, recorded and done.
final class PortalCall {
  /// The response of a portal (org.freedesktop.portal.Request).
  enum Response: UInt32 {
    case given = 0
    /// A person, or the program itself, does not want the secret any more.
    case cancelled = 1
    case failed = 2
  }

  /// The nanoseconds for which the descriptor may have no room, and the most times that it may run out of room.
  private static let (patience, mostTries): (Int64, Int) = (10_000_000_000, 16)

  let handle: String
  let peer: BusPeer
  /// The caller under which the entries of the call are recorded until its end.
  private let caller: Caller
  /// A number that is the same for all calls for one program, and for some others: it tells no name.
  let group: Int
  /// The place in the order in which calls came.
  let place: Int
  private unowned let portal: Portal
  private let outlet: SecretOutlet
  private let answer: LateAnswer
  private let wish: AppWish
  private let delivery: Delivery
  private var prompt: KeyringPrompt?
  private var timeout: Timer.Cancel?
  private var tries = 0
  /// True once the secret was read for the call; that read has been recorded.
  private var wasRead = false
  private var isOver = false

  /// The outcome of the last attempt to write the secret.
  final class Delivery {
    var outcome = SecretOutlet.Outcome.failed

    /// The response to the call; nil while it goes on.
    var response: Response? {
      switch outcome {
      case .written: .given
      case .failed: .failed
      case .passing, .full: nil
      }
    }
  }

  init(
    _ handle: String, of group: Int, at place: Int, _ portal: Portal, _ peer: BusPeer, _ wish: AppWish,
    _ delivery: Delivery, _ outlet: SecretOutlet, _ answer: LateAnswer
  ) {
    (self.handle, self.group, self.place, self.portal, self.peer) = (handle, group, place, portal, peer)
    (self.wish, self.delivery, self.outlet, self.answer) = (wish, delivery, outlet, answer)
    caller = peer.caller
  }

  private var door: SecretServiceDoor { portal.door }

  /// Waits until the portal lacks nothing for the secret.
  func ask() {
    forgetTime()
    let (keyring, wish, peer) = (door.keyring, wish, peer)
    let terms = AskedCall.Terms(
      caller, .untilServed, about: AskedCall.About(.get, detail: "a secret for the portal"),
      saying: { keyring.said(for: wish) }, isStillAsking: { peer.isRunning })
    let made: KeyringPrompt
    do throws(KeyringFault) {
      made = try KeyringPrompt(.fulfill(wish), keyring, door.asking, terms, peer.line, within: nil) { [weak self] in
        self?.asked($0)
      }
    } catch {
      return end(.failed)
    }
    prompt = made
    made.begin()
  }

  private func asked(_ end: KeyringPrompt.End) {
    prompt = nil
    switch end {
    case .fulfilled: tried()
    case .unlocked, .made, .deleted, .dismissed: self.end(.cancelled)
    }
  }

  /// Goes on after an attempt to write the secret.
  func tried() {
    wasRead = true
    switch delivery.outcome {
    case .written: end(.given)
    case .passing:
      waitAtMost()
      outlet.whenPassed { [weak self] outcome in
        self?.delivery.outcome = outcome
        self?.tried()
      }
    case .failed: end(.failed)
    case .full: waitForRoom()
    }
  }

  private func waitAtMost() {
    if timeout == nil { timeout = portal.timer.after(Self.patience) { [weak self] in self?.end(.failed) } }
  }

  /// Waits until the descriptor has room.
  private func waitForRoom() {
    tries += 1
    guard !isOver, tries <= Self.mostTries else { return end(.failed) }
    waitAtMost()
    do throws(SystemError) {
      try door.bus.watcher.watch(outlet.descriptor, for: .writable) { [weak self] in self?.roomCame() }
    } catch {
      end(.failed)
    }
  }

  private func roomCame() {
    door.bus.watcher.forget(outlet.descriptor)
    door.turns.wait(peer.line) { [weak self] in self?.tryAgain() }
  }

  private func tryAgain() {
    guard !isOver else { return }
    guard peer.isRunning else { return end(.failed) }
    door.vault.checkDeadlines()
    do throws(KeyringFault) {
      try door.keyring.fulfill(wish, for: caller)
      tried()
    } catch {
      if error == .isLocked { ask() } else { end(.failed) }
    }
  }

  private func forgetTime() {
    timeout?()
    timeout = nil
  }

  /// Ends the call, whose descriptor is closed before the answer.
  func end(_ response: Response) {
    guard !isOver else { return }
    isOver = true
    portal.forget(self)
    forgetTime()
    door.bus.watcher.forget(outlet.descriptor)
    let prompt = self.prompt
    self.prompt = nil
    prompt?.dismiss()
    if !wasRead { door.keyring.drop(wish, for: caller) }
    outlet.close { [answer] in answer.send { Portal.write(response, to: $0) } }
  }
}
