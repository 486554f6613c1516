public import VaultWire

extension Vault {
  /// An event in a vault.
  public typealias Event = Wire.MonitorReply

  /// Passes the events in the vault to `each`, the present state first, until `each` returns false.
  ///
  /// It blocks while nothing happens. When the connection ends, as at a restart of the daemon, it reconnects: the
  /// present state comes again, and then the events since the connection ended. When they are not known, an event has
  /// `missed`; values that were read before may then be out of date.
  ///
  /// - Parameter patience: the time to go without a daemon, or with one that has restarted and lets nobody connect yet,
  ///   before an error is thrown; nil means forever.
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

  /// Returns the events in the vault, as ``monitor(patience:_:)`` passes them on.
  ///
  /// A separate thread listens until the stream is dropped or its task is cancelled. The stream ends with an error when
  /// no daemon comes back within `patience`, or when the server cannot be trusted or understood. If the daemon cannot
  /// tell before an unlock what the caller may watch, the stream does not end but begins after the unlock.
  public func events(patience: Duration? = .seconds(60)) -> AsyncThrowingStream<Vault.Event, any Error> {
    let (events, continuation) = AsyncThrowingStream<Vault.Event, any Error>.makeStream()
    listen(patience: patience, continuation) { event, _ in event }
    return events
  }

  /// Signals when it is time to fetch the item `name`: at once, after the item was created, changed, deleted or moved,
  /// and when such an event may have been missed, as after a restart of the daemon. Changes that come before the last
  /// signal was taken count once.
  ///
  /// The stream ends as that of ``events(patience:)`` does.
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

  /// Returns true when `event` is about the item `name`, or may be.
  static func concerns(_ event: Vault.Event, _ name: String) -> Bool {
    event.missed == true || event.event == "item" && (event.name == nil || event.name == name || event.to == name)
  }

  /// Feeds `continuation` with the elements that `pick` makes from the events, on a new thread.
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
