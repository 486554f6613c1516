internal import VaultAPI
internal import VaultModel

/// Monitor, and what it tells.
extension Service {
  enum ItemEvent: String {
    case created, updated, deleted, moved
  }

  func monitor(_: Wire.Empty, _ connection: Connection) {
    let id = ObjectIdentifier(connection)
    monitors[id] = connection
    connection.hold { [weak self] in self?.monitors[id] = nil }
    connection.reply(stateEvent, continues: true)
  }

  var stateEvent: Wire.Event {
    Wire.Event(event: "state", time: clock.wall(), state: state.kind.rawValue, cause: state.cause.text)
  }

  func announceItem(_ name: ItemName, _ event: ItemEvent, to target: ItemName? = nil) {
    announce(
      Wire.Event(event: "item", time: clock.wall(), name: name.text, change: event.rawValue, target: target?.text))
  }

  /// Sends an event to everybody who watches. Who does not read is cut off: a stream with holes would be worse.
  func announce(_ event: Wire.Event) {
    for connection in Array(monitors.values) {
      guard connection.isPeerAlive else {
        connection.disown()
        continue
      }
      if connection.isKeepingUp { connection.reply(event, continues: true) } else { connection.close() }
    }
  }
}
