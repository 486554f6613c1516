internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

// Monitor.
extension VarlinkDoor {
  /// The number of kept events that are examined in one turn.
  private static let eventsAtATime = 128

  func monitor(_ call: Wire.MonitorParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    do throws(Refusal) { try items.watch(for: connection.caller) } catch { return connection.fail(error) }
    let place = call.after.flatMap { EventCursor.place($0) }.flatMap { events.recent.keeps($0) ? $0 : nil }
    // A client that gets only this reply can later continue from its own place.
    tellState(at: place ?? events.recent.newest, missed: call.after != nil && place == nil, connection)
    guard let place else { return watch(connection) }
    tell(after: place, connection)
  }

  /// Sends the present state; with `missed`, earlier facts may differ from what the client was told.
  private func tellState(at place: UInt64, missed: Bool, _ connection: VarlinkConnection) {
    var reply = Wire.MonitorReply(.state(vault.state), at: vault.clock.wall())
    reply.cursor = EventCursor.text(place)
    if missed { reply.missed = true }
    connection.reply(reply, continues: true)
  }

  /// Sends the events after a place, some at a time as the client reads, and then new events.
  private func tell(after place: UInt64, _ connection: VarlinkConnection) {
    let recent = events.recent
    guard let past = recent.after(place) else {
      tellState(at: recent.newest, missed: true, connection)
      return watch(connection)
    }
    let now = past.prefix(Self.eventsAtATime)
    for event in now {
      // The client's present grants decide.
      guard let part = event.event.part(for: { mayKnow($0, connection.caller) }) else { continue }
      var reply = Wire.MonitorReply(part, at: event.time)
      reply.cursor = EventCursor.text(event.place)
      connection.reply(reply, continues: true)
    }
    guard let last = now.last?.place, now.count < past.count else { return watch(connection) }
    var isWanted = true
    connection.hold(withName: false) { isWanted = false }
    connection.whenKeepingUp { [weak self, weak connection] in
      guard isWanted, let self, let connection, mayGoOn(connection) else { return }
      tell(after: last, connection)
    }
  }

  /// Sends events from now on.
  private func watch(_ connection: VarlinkConnection) {
    guard !connection.isClosing else { return }
    let id = ObjectIdentifier(connection)
    connection.hold(withName: false) { [weak self] in self?.events.remove(id) }
    events.add(id, for: connection.caller) { [weak self, weak connection] then in
      guard let self, let caller = connection?.caller else { return false }
      return !access.canDecide(about: caller, otherwise: then)
    } mayKnow: { [weak self, weak connection] name in
      guard let self, let caller = connection?.caller else { return false }
      return mayKnow(name, caller)
    } mayStay: { [weak self, weak connection] in
      guard let self, let connection else { return false }
      return mayGoOn(connection)
    } miss: { [weak self, weak connection] in
      if let self, let connection { tellState(at: events.recent.newest, missed: true, connection) }
    } send: { [weak connection] messages in
      guard let connection else { return false }
      // A client that does not read is cut off, because a stream with gaps would be worse.
      guard connection.isKeepingUp else {
        connection.close()
        return false
      }
      connection.stream(messages)
      return !connection.isClosing
    }
  }

  /// Returns true when a caller may know of events of an item or, for nil, of events for administrators.
  private func mayKnow(_ name: ItemName?, _ caller: VaultService.Caller) -> Bool {
    name.map { items.mayWatch($0, caller) } ?? access.isAdministrator(caller)
  }

  /// Returns true when a client may continue to watch; otherwise ends its call.
  private func mayGoOn(_ connection: VarlinkConnection) -> Bool {
    if items.mayWatchAnything(connection.caller) != false { return true }
    connection.fail(Refusal.denied("your right to watch has ended"))
    return false
  }
}
