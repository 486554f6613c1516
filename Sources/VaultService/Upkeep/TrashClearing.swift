internal import VaultModel
internal import VaultStore

/// The clearing of the trash: the items that have been there for their full time are deleted, a few in each turn, and
/// again later while the vault stays unlocked.
///
/// There is one walk over the trash at a time, however many callers delete items meanwhile. After a fault the next walk
/// waits longer each time.
final class TrashClearing {
  /// The number of items in the trash that one turn examines.
  private static let page = 64
  /// The longest time between two walks, in seconds.
  private static let longestInterval: Int64 = 3600
  /// The first and the longest pause after a fault, in seconds; each pause is twice as long as the last.
  private static let (firstPause, longestPause): (Int64, Int64) = (1, 300)

  /// The place of the walk that is under way.
  private struct Place {
    /// The result of the previous turn; nil at the beginning.
    var after: Int64?
    /// The most items that the next turn examines.
    var most = TrashClearing.page
  }

  private let vault: Vault
  private let timer: Timer
  /// The walk that is under way, whose next turn was asked for; nil for none.
  private var walk: Place?
  /// Cancels the timer of the next walk.
  private var cancel: Timer.Cancel?
  /// The last fault and the last pause after it, in seconds; nil if the last walk had none.
  private var fault: (text: String, pause: Int64)?

  init(_ vault: Vault, _ timer: Timer) {
    self.vault = vault
    self.timer = timer
  }

  /// Begins a walk, or begins the walk that is under way again, after an unlock or with new settings.
  func clear() {
    fault = nil
    begin()
  }

  /// Has a walk begin when the first of the items that were just moved to the trash may be due, unless a walk is due
  /// before.
  func hasGrown() {
    guard cancel == nil, isDue else { return }
    arm(after: interval)
  }

  /// The time between two walks, in seconds.
  private var interval: Int64 { max(1, min(Self.longestInterval, vault.settings.trash ?? 0)) }

  private var isDue: Bool { vault.state.kind == .unlocked && vault.openKeychain.map { $0.trashCount > 0 } ?? false }

  private func arm(after seconds: Int64) {
    cancel?()
    cancel = timer.after(seconds * 1_000_000_000) { [weak self] in
      guard let self else { return }
      cancel = nil
      // A long walk is not begun again before its end.
      if walk == nil { begin() } else { arm(after: interval) }
    }
  }

  private func begin() {
    cancel?()
    cancel = nil
    guard isDue, let keychain = vault.openKeychain else { return }
    let interval = interval
    arm(after: interval)
    do throws(VaultError) { try keychain.ageTrash(now: vault.clock.wall(), least: interval) } catch {
      return fail(error, "the time in the trash cannot be counted")
    }
    let isUnderWay = walk != nil
    walk = Place()
    if !isUnderWay { goOn() }
  }

  private func goOn() {
    guard let turns = vault.waiting.turns else {
      walk = nil
      return
    }
    turns.wait { [weak self] in self?.step() }
  }

  private func step() {
    guard let place = walk else { return }
    walk = nil
    guard let keychain = vault.openKeychain else { return }
    do throws(VaultError) {
      let age = vault.settings.trash ?? 0
      let next = try vault.makingRoom(keychain) { () throws(VaultError) in
        try keychain.emptyTrash(ofAge: age, after: place.after, examining: place.most)
      }
      guard let next else {
        fault = nil
        return
      }
      walk = Place(after: next, most: place.most)
    } catch .locked {
      return
    } catch {
      // Many items at once need more space than one.
      guard error == .diskFull, place.most > 1 else { return fail(error, "the trash cannot be cleared") }
      walk = Place(after: place.after, most: 1)
    }
    goOn()
  }

  /// Notes a fault, and has the next walk begin after a pause. A fault that stays is met by each walk, and is logged
  /// once.
  private func fail(_ error: VaultError, _ what: String) {
    let text = "\(what): \(error.text)"
    if fault?.text != text { vault.log.error(text) }
    let pause = fault.map { min(2 * $0.pause, Self.longestPause) } ?? Self.firstPause
    fault = (text, pause)
    arm(after: max(interval, pause))
  }
}
