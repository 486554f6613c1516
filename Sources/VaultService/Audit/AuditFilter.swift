package import VaultModel

/// A choice among the entries of the audit log.
package struct AuditFilter: Sendable {
  /// The time of the first and of the last ones, Unix seconds.
  package var since: Int64?
  package var until: Int64?
  /// The items, as a grant names them.
  package var items: ItemPattern?
  /// The item that has this name now, under whatever name an entry tells of it. Where none has it, all that had it.
  package var item: ItemName?
  /// The callers, as a grant names them.
  package var subject: Subject?
  /// True for those alone that were refused.
  package var isRefused = false
  package var door: String?
  package var action: AuditAction?
  /// The number of the first one.
  package var from: Int64?
  /// The most of them, the last ones.
  package var last: Int?

  package init() {}

  /// - Parameter id: the item that ``item`` means, where one has the name.
  func matches(_ entry: AuditEntry, of id: ItemID?) -> Bool {
    isOfItsTime(entry) && matchesAtAnyTime(entry, of: id)
  }

  func isOfItsTime(_ entry: AuditEntry) -> Bool {
    if let since, entry.time < since { return false }
    return until.map { entry.time <= $0 } ?? true
  }

  func matchesAtAnyTime(_ entry: AuditEntry, of id: ItemID?) -> Bool {
    if let items, !entry.mayBeOfAny, !(entry.item.flatMap { try? ItemName($0) }.map(items.matches) ?? false) {
      return false
    }
    if let item, !entry.mayBeOfAny {
      if let id, let other = entry.id {
        guard id == other else { return false }
      } else {
        guard let text = entry.item, text.utf8.elementsEqual(item.text.utf8) else { return false }
      }
    }
    if let subject, !(entry.caller?.isAll(of: subject) ?? false) { return false }
    if isRefused, entry.outcome == .ok { return false }
    if let door, entry.caller?.door != door { return false }
    return action == nil || entry.action == action
  }
}

extension AuditEntry {
  /// True when it counts what may have been about any item: who asks about one has to be told that there is more than
  /// what names it. Counts of nobody are those of earlier programs, which named their subject where others name an
  /// item.
  fileprivate var mayBeOfAny: Bool {
    guard let repeats, repeats.of == nil, item == nil || caller == nil else { return false }
    return AuditPart(of: action, outcome, isDaemon: false) == .values
  }

  /// True where it tells of something that was done with an item whose name is all that it says: another one may have
  /// had that then.
  var isByName: Bool {
    guard id == nil, item != nil, caller != nil, outcome == .ok else { return false }
    switch action {
    case .get, .use, .set, .delete, .move: return true
    case .find, .grant, .revoke, .deposit, .unlock, .lock, .slot, .passwd, .rekey, .backup, .restore, .salvage, .export,
      .settings, .audit, .create, .call, .proof, .request, .approve, .deny, .attend, .dismiss, .receipt, .clock:
      return false
    }
  }
}

extension AuditEntry.Caller {
  /// True when a subject's parts hold for it, as far as the log tells them.
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
