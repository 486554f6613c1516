internal import VaultBytes
public import VaultWire

/// A vault, reached through its daemon.
///
/// Every call blocks its thread until the daemon has answered, a local round trip of some tens of microseconds unless
/// the call waits for an unlock. Calls that follow each other share one connection. A call waits for a daemon that
/// restarts before it or during it. A value and its copies share that connection, so only one thread at a time may use
/// them; make another value for another thread.
///
/// Calls throw ``ClientError``. Calls that ask questions through a closure also throw the closure's errors.
public struct Vault {
  /// The address at which the daemon listens.
  public let location: SocketLocation
  /// True when a person is waiting for the answers. It moves the idle deadline, so a program that works on its own must
  /// leave it off; otherwise the vault would never lock.
  public var interactive = false
  /// The purpose of the calls, shown to a person who is asked.
  public var reason: String?
  /// The time that a call keeps trying while nobody listens.
  public var patience = Connection.defaultPatience
  /// The time that a call waits for an answer, beyond the wait that it asks for; nil means forever.
  public var timeout: Duration? = Connection.defaultTimeout
  /// The time after which a call gives up on a daemon that answers nobody, even if the call waits for a person. Nil if
  /// only the other limits count. It does not apply to ``monitor(patience:_:)``, which is silent while nothing happens.
  public var silence: Duration? = .seconds(10)
  /// Called with true when a call has waited for two seconds and the daemon then answers nobody, and with false once it
  /// answers again or the call ends. It serves to tell a person what a program waits for.
  public var whenSilent: ((Bool) -> Void)?
  /// The time for a call that derives keys from passwords, because slow machines need seconds.
  public var keyTimeout: Duration? = .seconds(120)

  /// A descriptor that ends conversations and ``attend(faces:_:)`` with ``Fault/cancelled`` once it is readable.
  public var cancellation: Int32?

  /// The most bytes of items that are kept together, enough for more than a million items.
  var longestListing = 256 << 20
  /// The most bytes of the reports of a check or a salvage. A daemon ends such reports after some hundred kilobytes.
  var longestReport = 64 << 20

  private let connection: KeptConnection

  /// Makes a client of the vault at `location`, without connecting yet.
  public init(at location: SocketLocation) {
    self.location = location
    connection = KeptConnection(to: location)
  }

  /// Makes a client of the user's vault, as ``SocketLocation/user(explicit:)`` finds it.
  public init() throws(ClientError) { self.init(at: try SocketLocation.user()) }

  /// The state of the vault. The daemon answers in every state, and the call never moves the idle deadline.
  public func status() throws(ClientError) -> Wire.StatusReply {
    try call(.status, again: true, Wire.Empty()).decode()
  }

  /// The definition of the interface ``VaultInterface`` that the daemon serves, with its comments. It is that of
  /// ``VaultInterface/description`` if daemon and client are of one build.
  public func interfaceDescription() throws(ClientError) -> String {
    let reply: Wire.GetInterfaceDescriptionReply = try call(
      .getInterfaceDescription, again: true, Wire.GetInterfaceDescriptionParameters(interface: VaultInterface.name)
    ).decode()
    return reply.description
  }

  /// Makes the daemon read its settings again.
  ///
  /// - Throws: ``Fault/misconfigured(reason:)``, which tells the line that the daemon rejects, and the reason.
  public func reload() throws(ClientError) -> Wire.ReloadReply {
    try call(.reload, again: true, Wire.Empty()).decode()
  }

  /// Wipes the keys of `when-unlocked` items from the daemon's memory.
  public func lock() throws(ClientError) {
    _ = try call(.lock, again: true, Wire.Empty()).decode(Wire.Empty.self)
  }

  /// The parameter `interactive` of a call.
  var attended: Bool? { interactive ? true : nil }

  func call(
    _ method: MethodName, again: Bool, wait: Duration? = nil, _ parameters: some WireValue
  ) throws(ClientError) -> Response {
    try call(method, again: again, wait: wait) { parameters.write(to: &$0) }
  }

  /// - Parameter meanwhile: called whenever the call was sent, before its reply is read.
  func call(
    _ method: MethodName, again: Bool, wait: Duration? = nil, meanwhile: () -> Void = {},
    parameters: (inout JSONWriter) -> Void
  ) throws(ClientError) -> Response {
    try connection.call(
      method, again: again, patience: patience, timeout: timeout.map { $0 + (wait ?? .zero) }, signOfLife,
      meanwhile, parameters)
  }

  /// Makes a further connection to the daemon.
  func connect() throws(ClientError) -> Connection {
    let busyPatience = SignOfLife.patience(of: signOfLife, within: timeout, orAtLeast: patience)
    let connection = try Connection(to: location, patience: patience, whileBusy: busyPatience, interrupt: nil)
    connection.signOfLife = signOfLife
    return connection
  }

  func stream(
    _ method: MethodName, timeout: Duration?, cancellation: Int32? = nil, _ parameters: some WireValue
  ) throws(ClientError) -> ReplyStream {
    var repetition = Repetition()
    return try stream(method, timeout: timeout, cancellation: cancellation, &repetition, parameters)
  }

  /// Collects the replies to a call that only reads into what `take` makes of them. The call is repeated from the
  /// beginning when the daemon goes away before the last reply.
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

  /// The check for a daemon that is silent for long.
  var signOfLife: SignOfLife? {
    silence.map { SignOfLife(location: location, limit: $0, whenSilent: whenSilent) }
  }

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
