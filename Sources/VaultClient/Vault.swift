public import VaultWire

/// A vault, spoken to through its daemon.
///
/// Every call blocks the thread it is made on until the daemon has answered, a local round trip of some tens of
/// microseconds unless it waits for an unlock. Calls that follow each other share one connection; a daemon that
/// restarts between or during them is waited for. A value and its copies, which share that connection, are for one
/// thread at a time; make another one for another thread.
///
/// Calls throw ``ClientError``. The ones that ask back through a closure also throw what the closure throws.
public struct Vault {
  /// The address at which the daemon listens.
  public let location: SocketLocation
  /// True when a person is waiting for the answers. It moves the idle deadline, so a program that works on its own
  /// must leave it off, lest the vault never locks.
  public var interactive = false
  /// The purpose for which the vault is wanted, shown to a person who is asked.
  public var reason: String?
  /// The time that a call tries while nobody listens.
  public var patience = Connection.defaultPatience
  /// The time that a call waits for an answer, beyond what it was asked to wait for; nil means for ever.
  public var timeout: Duration? = Connection.defaultTimeout
  /// The time after which a call gives up a daemon that answers nobody, also where the call waits for a person; nil
  /// where the other limits alone count. It does not count for ``monitor(patience:_:)``, which is silent for as long as
  /// nothing happens.
  public var silence: Duration? = .seconds(10)
  /// The time that a call that derives keys from passwords may take: slow machines need seconds.
  public var keyTimeout: Duration? = .seconds(120)

  /// A descriptor that ends conversations, and attending, with ``Fault/cancelled`` once it can be read.
  public var cancellation: Int32?

  /// The most bytes of items that are kept together, those of more than a million.
  var longestListing = 256 << 20
  /// The most bytes of what a check says, or a salvage, which a daemon ends after some hundred kilobytes.
  var longestReport = 64 << 20

  private let connection: KeptConnection

  /// The vault at `location`. Nothing is connected yet.
  public init(at location: SocketLocation) {
    self.location = location
    connection = KeptConnection(to: location)
  }

  /// The user's vault, as ``SocketLocation/user(explicit:)`` finds it.
  public init() throws(ClientError) { self.init(at: try SocketLocation.user()) }

  /// The state of the vault: answered in every state, and never touches the idle deadline.
  public func status() throws(ClientError) -> Wire.StatusReply {
    try call(.status, again: true, Wire.Empty()).decode()
  }

  /// Has the daemon read its settings again; ``Fault/misconfigured(reason:)`` says which line it refuses, and why.
  public func reload() throws(ClientError) -> Wire.ReloadReply {
    try call(.reload, again: true, Wire.Empty()).decode()
  }

  /// Wipes the keys of `when-unlocked` items from the daemon's memory.
  public func lock() throws(ClientError) {
    _ = try call(.lock, again: true, Wire.Empty()).decode(Wire.Empty.self)
  }

  /// The `interactive` of a call.
  var attended: Bool? { interactive ? true : nil }

  func call(
    _ method: MethodName, again: Bool, wait: Duration? = nil, _ parameters: some WireValue
  ) throws(ClientError) -> Response {
    try call(method, again: again, wait: wait) { parameters.write(to: &$0) }
  }

  func call(
    _ method: MethodName, again: Bool, wait: Duration? = nil, parameters: (inout JSONWriter) -> Void
  ) throws(ClientError) -> Response {
    try connection.call(
      method, again: again, patience: patience, timeout: timeout.map { $0 + (wait ?? .zero) }, silence: silence,
      parameters)
  }

  func stream(
    _ method: MethodName, timeout: Duration?, cancellation: Int32? = nil, _ parameters: some WireValue
  ) throws(ClientError) -> ReplyStream {
    var repetition = Repetition()
    return try stream(method, timeout: timeout, cancellation: cancellation, &repetition, parameters)
  }

  /// All that `take` makes of the replies to a call that only reads, made again from the beginning when the daemon goes away
  /// before the last of them.
  func gather<Whole>(
    _ method: MethodName, _ parameters: some WireValue,
    _ take: (inout ReplyStream) throws(ClientError) -> Whole
  ) throws(ClientError) -> Whole {
    var repetition = Repetition()
    while true {
      var replies = try stream(method, timeout: timeout, &repetition, parameters)
      do throws(ClientError) { return try take(&replies) } catch {
        guard error == .disconnected, let pause = repetition.next() else { throw error }
        try replies.connection.pause(pause)
      }
    }
  }

  /// The check of a daemon that is silent for long.
  private var signOfLife: SignOfLife? { silence.map { SignOfLife(location: location, limit: $0) } }

  private func stream(
    _ method: MethodName, timeout: Duration?, cancellation: Int32? = nil, _ repetition: inout Repetition,
    _ parameters: some WireValue
  ) throws(ClientError) -> ReplyStream {
    try ReplyStream(
      method, at: location, patience: patience, timeout: timeout, cancellation: cancellation, signOfLife: signOfLife,
      repetition: &repetition
    ) { parameters.write(to: &$0) }
  }
}
