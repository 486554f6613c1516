/// The state of the vault, with its cause and the time since which it lasts.
package struct LockState: Sendable, Equatable {
  package enum Kind: String, Sendable {
    /// There is no vault yet.
    case new
    /// The vault has not been unlocked since the daemon started, so only `always` items are served.
    case cold
    case unlocked
    case locked
    /// There is a store, but it cannot be opened.
    case unreadable
  }

  package enum Cause: Sendable, Equatable {
    case start, created, asked, signal, stop, unreachable, displaced, idle, age, timeUp, sleep, resume, sessionLock,
      repaired, restored, found
    /// A program has locked the vault through the Secret Service.
    case program
    /// A screen locker, by its name on the session bus, has locked the screen.
    case screenLock(String)
    /// The vault was unlocked by this method.
    case method(String)

    package init(_ reason: LockPolicy.Reason) {
      switch reason {
      case .idle: self = .idle
      case .age: self = .age
      case .asked: self = .timeUp
      }
    }

    /// True when the machine, with its memory, is out of its owner's hands.
    package var isSleep: Bool { self == .sleep || self == .resume }

    /// The cause in the words of `Status` and the journal.
    package var text: String {
      switch self {
      case .start: "the daemon started"
      case .created: "the vault was created"
      case .asked: "by `vault lock`"
      case .program: "by a program through the Secret Service"
      case .signal: "by signal SIGUSR1"
      case .stop: "the daemon stops"
      case .unreachable: "nobody can reach the daemon's socket"
      case .displaced: "the store or its lock was moved, removed or replaced"
      case .idle: "no person used it for the idle time"
      case .age: "the maximum age was reached"
      case .timeUp: "the time requested at the unlock is up"
      case .sleep: "the machine goes to sleep"
      case .resume: "the machine slept"
      case .sessionLock: "the session was locked"
      case .screenLock(let name): "the screen was locked (\(name))"
      case .restored: "the vault was restored from a backup"
      case .repaired: "the store could be opened again"
      case .found: "another program has put a vault there"
      case .method(let name): "by \(name)"
      }
    }
  }

  package var kind: Kind
  package var cause: Cause
  /// The time since which the vault is in this state, in Unix seconds.
  package var since: Int64

  package init(kind: Kind, cause: Cause, since: Int64) {
    self.kind = kind
    self.cause = cause
    self.since = since
  }
}
