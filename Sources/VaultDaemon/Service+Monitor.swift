internal import VaultAPI
internal import VaultModel

/// Monitor, and what it tells.
extension Service {
  enum ItemEvent: String {
    case created, updated, deleted, moved
  }

  func monitor(_: Wire.Empty, _ connection: Connection) {
    let id = ObjectIdentifier(connection)
    connection.hold { [weak self] in self?.events.remove(id) }
    connection.reply(stateEvent, continues: true)
    // Who does not read is cut off: a stream with holes would be worse.
    events.add(id) { [weak connection] messages in
      guard let connection else { return false }
      guard connection.isKeepingUp else {
        connection.close()
        return false
      }
      connection.stream(messages)
      return !connection.isClosing
    }
  }

  var stateEvent: Wire.Event {
    Wire.Event(event: "state", time: clock.wall(), state: state.kind.rawValue, cause: state.cause.text)
  }

  func announceItem(_ name: ItemName, _ event: ItemEvent, to target: ItemName? = nil) {
    events.announce(
      Wire.Event(event: "item", time: clock.wall(), name: name.text, change: event.rawValue, target: target?.text))
  }
}
