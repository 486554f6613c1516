package import VaultModel

/// A choice of entries of the audit log.
package struct AuditFilter: Sendable {
  /// The times of the first and the last entries, in Unix seconds.
  package var since: Int64?
  package var until: Int64?
  /// The items, by a pattern like that of a grant.
  package var items: ItemPattern?
  /// The item that has this name now, whatever name an entry has for it. If no item has the name, all items that had
  /// it.
  package var item: ItemName?
  /// The callers, by a subject like that of a grant.
  package var subject: Subject?
  /// True to choose only calls that were refused.
  package var isRefused = false
  package var door: String?
  package var action: AuditAction?
  /// The number of the first entry.
  package var from: Int64?
  /// The most entries; the last ones are chosen.
  package var last: Int?

  package init() {}

  /// - Parameter id: the item that ``item`` stands for, if an item has the name.
  func matches(_ entry: AuditEntry, of id: ItemID?) -> Bool {
    isOfItsTime(entry) && matchesAtAnyTime(entry, of: id)
  }

  func isOfItsTime(_ entry: AuditEntry) -> Bool {
    if let since, entry.time < since { return false }
    return until.map { entry.time <= $0 } ?? true
  }

  func matchesAtAnyTime(_ entry: AuditEntry, of id: ItemID?) -> Bool {
    if let item, !entry.mayBeOfAny {
      if let id, let other = entry.id {
        guard id == other else { return false }
      } else {
        guard isNamed(item, entry) else { return false }
      }
    }
    return matchesWithoutItem(entry)
  }

  /// True for an entry that has only a name, which is not that of the item: the entry may be about the item under an
  /// earlier name.
  func isOfOtherName(_ entry: AuditEntry) -> Bool {
    guard let item, entry.isByName, !isNamed(item, entry) else { return false }
    return matchesWithoutItem(entry)
  }

  private func isNamed(_ name: ItemName, _ entry: AuditEntry) -> Bool {
    entry.item?.utf8.elementsEqual(name.text.utf8) ?? false
  }

  private func matchesWithoutItem(_ entry: AuditEntry) -> Bool {
    if let items, !entry.mayBeOfAny, !(entry.item.flatMap { try? ItemName($0) }.map(items.matches) ?? false) {
      return false
    }
    if let subject, !(entry.caller?.isAll(of: subject) ?? false) { return false }
    if isRefused, entry.outcome == .ok { return false }
    if let door, entry.caller?.door != door { return false }
    return action == nil || entry.action == action
  }
}

extension AuditEntry {
  /// True for a count that may include any item: a search for one item must show that there were events beyond those
  /// with its name. Counts without a caller are those of earlier versions of the program, which stored their subject in
  /// place of the item.
  fileprivate var mayBeOfAny: Bool {
    guard let repeats, repeats.of == nil, item == nil || caller == nil else { return false }
    return AuditPart(of: action, outcome, isDaemon: false) == .values
  }

  /// True for an entry about an operation on an item that contains only the item's name: another item may have had that
  /// name then.
  var isByName: Bool {
    guard id == nil, item != nil, caller != nil, outcome == .ok else { return false }
    switch action {
    case .get, .use, .set, .delete, .move: return true
    case .find, .grant, .revoke, .deposit, .unlock, .lock, .slot, .passwd, .rekey, .backup, .restore, .salvage, .export,
      .settings, .audit, .create, .call, .proof, .request, .approve, .deny, .attend, .dismiss, .receipt, .clock,
      .import:
      return false
    }
  }
}

extension AuditEntry.Caller {
  /// True when a subject's parts hold for the caller, as far as the log contains them.
  fileprivate func isAll(of subject: Subject) -> Bool {
    subject.parts.allSatisfy { part in
      switch part {
      case .user(let uid): self.uid == uid
      case .unit(let name): unit == name
      case .executable(let path): executable == path
      case .group, .digest: false
      }
    }
  }
}
