internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

// Receipt.
extension VarlinkDoor {
  func receipt(_ call: Wire.ReceiptParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answerFromVault(connection) { () throws(Refusal) in
      let name = try Self.itemName(call.name)
      try items.receipt(
        call.version, of: name, mayBeOfAnother: try hasChanged(name, since: call.since), succeeded: call.succeeded,
        isHeld: call.held ?? false, detail: call.detail, for: connection.caller)
      notices.set(
        call.notice, of: connection.caller, isSystem: access.terms.isSystem, connection.peerProcess,
        at: vault.clock.wall())
      connection.reply(Wire.Empty())
    }
  }

  /// Returns true if a name has lost its item since the event with this cursor, or has got one; false if that is not
  /// known any more, or if the caller does not ask.
  private func hasChanged(_ name: ItemName, since cursor: String?) throws(Refusal) -> Bool {
    guard let cursor else { return false }
    guard let place = EventCursor.place(cursor) else { throw .invalid("since") }
    return events.recent.after(place)?.contains { $0.event.changesItem(of: name) } ?? false
  }
}
