internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The slots with passwords, before and after a change of one password.
struct PasswordSlots {
  private let before: [Wire.Slot]
  private let after: [Wire.Slot]
  /// The number of the slot that the call was to change; nil if the old password has decided that.
  private let chosen: Int?

  init(before: [Wire.Slot], chosen: Int?, _ session: Session) {
    (self.before, self.chosen) = (before, chosen)
    after = (try? session.call { vault in try vault.slots() }) ?? []
  }

  /// The slot with a new secret: a changed slot keeps its number and has a new time. Nil if it cannot be told.
  private var changed: Wire.Slot? {
    if let chosen { return after.first { $0.id == chosen } }
    let changed = after.filter { slot in before.contains { $0.id == slot.id && $0 != slot } }
    return changed.count == 1 ? changed[0] : nil
  }

  /// The number of the slot whose secret a recovery code replaces: the lowest of that kind.
  static func first(_ slots: [Wire.Slot], _ kind: String) -> Int? { slots.filter { $0.kind == kind }.map(\.id).min() }

  /// The failure to change the password of a slot; if the slot has no such password, with the slots that have one.
  static func explained(_ failure: Failure, _ id: Int?, of kind: SlotKind, _ slots: [Wire.Slot]) -> Failure {
    guard failure.exit == .configuration, let slot = slots.first(where: { $0.id == id }), slot.kind != kind.name else {
      return failure
    }
    let others = slots.filter { $0.kind == kind.name }.map { String($0.id) }
    let which = others.count == 1 ? "slot \(others[0]) has one" : "slots \(others.joined(separator: ", ")) have one"
    return Failure(
      failure.exit,
      "slot \(slot.id) is of kind \(Printable.text(slot.kind)), so it has no \(kind.facts.secretName) to change",
      others.isEmpty ? "see \(Hint.vault("slot list"))" : which)
  }

  /// Says which password was changed and, if there are several, which ones were not.
  func sentence(isLogin: Bool) -> String {
    let peers = after.filter { $0.kind == (changed?.kind ?? "") }
    guard let changed, peers.count > 1 else {
      return isLogin ? "the login slot has the new password" : "the password is changed"
    }
    let others = peers.filter { $0.id != changed.id }.map { String($0.id) }
    let kept =
      others.count == 1 ? "slot \(others[0]) keeps its own" : "slots \(others.joined(separator: ", ")) keep theirs"
    return "the password of slot \(changed.id) is changed, and \(kept)"
  }
}
