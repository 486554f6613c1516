internal import VaultAPI
internal import VaultModel

/// Monitor, and what it tells.
extension Service {
  enum ItemEvent: String {
    case created, updated, deleted, moved
  }

  func monitor(_ connection: Connection) {
    let id = ObjectIdentifier(connection)
    monitors[id] = connection
    connection.hold { [weak self] in self?.monitors[id] = nil }
    connection.reply(continues: true) { writer in
      writer.key("event")
      writer.string("state")
      writeState(&writer)
      writer.key("time")
      writer.integer(clock.wall())
    }
  }

  func writeState(_ writer: inout JSONWriter) {
    writer.key("state")
    writer.string(state.kind.rawValue)
    writer.key("cause")
    writer.string(state.cause.text)
  }

  func announceItem(_ name: ItemName, _ event: ItemEvent, to: ItemName? = nil) {
    announce { writer in
      writer.key("event")
      writer.string("item")
      writer.key("name")
      writer.string(name.text)
      writer.key("change")
      writer.string(event.rawValue)
      if let to {
        writer.key("to")
        writer.string(to.text)
      }
    }
  }

  /// Sends an event to everybody who watches. Who does not read is cut off: a stream with holes would be worse.
  func announce(_ event: (inout JSONWriter) -> Void) {
    let now = clock.wall()
    for connection in Array(monitors.values) {
      guard connection.isKeepingUp else {
        connection.close()
        continue
      }
      connection.reply(continues: true) { writer in
        event(&writer)
        writer.key("time")
        writer.integer(now)
      }
    }
  }
}
