public import VaultWire

extension Vault {
  /// Something that has happened in a vault.
  public typealias Event = Wire.MonitorReply

  /// Hands over what happens in the vault, the present state first, until `each` says false.
  ///
  /// It blocks for as long as nothing happens, and goes on by itself when the connection ends, as at a restart of the daemon: the
  /// present state comes again, and then what has happened meanwhile. An event has `missed` where that is not known: what was
  /// read before may be out of date then.
  ///
  /// - Parameter patience: the time to go without a daemon before an error is thrown; nil means for ever.
  public func monitor(
    patience: Duration? = .seconds(60), _ each: (Vault.Event) throws -> Bool
  ) throws {
    var thrown: (any Error)?
    let listener = Listener(location: location, timeout: timeout, patience: patience, interrupt: try Interrupt())
    try listener.run { event, _ in
      do { return try each(event) } catch {
        thrown = error
        return false
      }
    }
    if let thrown { throw thrown }
  }

  /// The events in the vault, as ``monitor(patience:_:)`` hands them over.
  ///
  /// A thread of its own listens until the stream is dropped or its task is cancelled. The stream ends with an error
  /// when no daemon comes back within `patience`, or when what answers cannot be trusted or understood. It does not end where
  /// the daemon cannot tell before an unlock what the caller may watch; it begins then.
  public func events(patience: Duration? = .seconds(60)) -> AsyncThrowingStream<Vault.Event, any Error> {
    let (events, continuation) = AsyncThrowingStream<Vault.Event, any Error>.makeStream()
    listen(patience: patience, continuation) { event, _ in event }
    return events
  }

  /// Says when it is time to fetch the item `name`: at once, whenever it was created, changed, deleted or moved, and
  /// where that may have been missed, as after a restart of the daemon. Changes that come before the last one was taken
  /// count once.
  ///
  /// It ends as ``events(patience:)`` does.
  public func changes(
    of name: String, patience: Duration? = .seconds(60)
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
    event.missed == true || event.event == "item" && (event.name == nil || event.name == name || event.to == name)
  }

  /// Feeds `continuation` with what `pick` takes from the events, on a new thread.
  private func listen<Element: Sendable>(
    patience: Duration?, _ continuation: AsyncThrowingStream<Element, any Error>.Continuation,
    _ pick: @escaping @Sendable (Vault.Event, _ isFirst: Bool) -> Element?
  ) {
    do {
      let listener = Listener(
        location: location, timeout: timeout, patience: patience, interrupt: try Interrupt())
      continuation.onTermination = { _ in listener.interrupt.raise() }
      try NewThread.run {
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
