internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

// Delete, Undelete, EmptyTrash and RestoreVersion.
extension VarlinkDoor {
  func delete(_ call: Wire.DeleteParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      try CallWeight.check(count: call.names.count, atMost: CallLimits.deletions)
      var names: [ItemName] = []
      for name in call.names { names.append(try Self.itemName(name)) }
      let isForGood = call.now ?? false
      vault.audit.isAbout(
        .delete, names.count == 1 ? names[0].text : "", detail: Items.detail(ofUndone: names, isForGood),
        for: connection.caller)
      try whenPrepared(.delete(names, isForGood: isForGood), connection) { long throws(Refusal) in
        let kept = try items.delete(names, isForGood: isForGood, long, for: connection.caller)
        connection.reply(Wire.DeleteReply(kept: kept.map { Int(clamping: $0) }))
        upkeep.trashHasGrown()
      }
    }
  }

  func undelete(_ call: Wire.UndeleteParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let name = try Self.itemName(call.name)
      vault.audit.isAbout(.set, name.text, detail: Items.undeleting, for: connection.caller)
      try whenPrepared(.undelete(name), connection) { long throws(Refusal) in
        try items.undelete(name, long, for: connection.caller)
        connection.reply(Wire.UndeleteReply(openTo: others(on: [name], connection)))
      }
    }
  }

  func emptyTrash(_ call: Wire.EmptyTrashParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      vault.audit.isAbout(.delete, detail: "all of the trash", for: connection.caller)
      let owner = try searcher("empty", ofTrash: true, connection)
      let after = try place(call.after, owner)
      let (gone, next) = try items.emptyTrash(
        after: after?.row, through: call.through.map(Int64.init), for: connection.caller)
      let cursor = next.map { FindCursor(SearchPlace(area: 0, row: $0)).text(for: owner) }
      connection.reply(Wire.EmptyTrashReply(deleted: gone, next: cursor))
    }
  }

  func restoreVersion(_ call: Wire.RestoreVersionParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      if call.version < 1 { throw .invalid("version") }
      let name = try Self.itemName(call.name)
      let detail = Items.detail(ofRestoring: call.version)
      vault.audit.isAbout(.set, name.text, detail: detail, for: connection.caller)
      try whenPrepared(.restoreVersion(call.version, of: name), connection) { long throws(Refusal) in
        let stored = try items.restoreVersion(call.version, of: name, long, for: connection.caller)
        connection.reply(Wire.RestoreVersionReply(version: stored.number))
      }
    }
  }
}
