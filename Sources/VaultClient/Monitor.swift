public import VaultWire

extension Vault {
  /// Something that has happened in a vault.
  public typealias Event = Wire.MonitorReply

  /// Hands over what happens in the vault, the present state first, until `each` says false.
  ///
  /// It blocks for as long as nothing happens. Throws ``ClientError/disconnected`` when the daemon goes away: what
  /// happens until the next call is missed then, so look again after it.
  public func monitor(_ each: (Vault.Event) throws -> Bool) throws {
    var replies = try stream(.monitor, timeout: timeout, Wire.MonitorParameters())
    while let response = try replies.next(timeout: nil) {
      guard try each(response.decode()) else { return }
    }
  }

  /// The events in the vault, the present state first and again after each restart of the daemon.
  ///
  /// A thread of its own listens until the stream is dropped or its task is cancelled. The stream ends with an error
  /// when no daemon comes back within `patience`, or when what answers cannot be trusted or understood. It does not end where
  /// the daemon cannot tell before an unlock what the caller may watch; it begins then.
  public func events(patience: Duration = .seconds(60)) -> AsyncThrowingStream<Vault.Event, any Error> {
    let (events, continuation) = AsyncThrowingStream<Vault.Event, any Error>.makeStream()
    listen(patience: patience, continuation) { event, _ in event }
    return events
  }

  /// Says when it is time to fetch the item `name`: at once, whenever it was created, changed, deleted or moved, and
  /// after a restart of the daemon, when that might have gone unseen. Changes that come before the last one was taken
  /// count once.
  ///
  /// It ends as ``events(patience:)`` does.
  public func changes(
    of name: String, patience: Duration = .seconds(60)
  ) -> AsyncThrowingStream<Void, any Error> {
    let (changes, continuation) = AsyncThrowingStream<Void, any Error>
      .makeStream(bufferingPolicy: .bufferingNewest(1))
    listen(patience: patience, continuation) { event, isFirst in
      isFirst || Vault.concerns(event, name) ? () : nil
    }
    return changes
  }

  /// True when `event` is about the item `name`, or may be.
  static func concerns(_ event: Vault.Event, _ name: String) -> Bool {
    event.event == "item" && (event.name == nil || event.name == name || event.to == name)
  }

  /// Feeds `continuation` with what `pick` takes from the events, on a new thread.
  private func listen<Element: Sendable>(
    patience: Duration, _ continuation: AsyncThrowingStream<Element, any Error>.Continuation,
    _ pick: @escaping @Sendable (Vault.Event, _ isFirst: Bool) -> Element?
  ) {
    do {
      let listener = Listener(
        location: location, timeout: timeout, patience: patience, interrupt: try Interrupt())
      continuation.onTermination = { _ in listener.interrupt.raise() }
      try Listener.startThread {
        do {
          try listener.run { event, isFirst in
            guard let element = pick(event, isFirst) else { return true }
            if case .terminated = continuation.yield(element) { return false }
            return true
          }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
    } catch {
      continuation.finish(throwing: error)
    }
  }
}
