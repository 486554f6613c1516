package import Glibc

/// The scope of a proof of presence: one session of processes (`setsid(2)`), such as all that runs in one terminal.
///
/// A process can leave its session for a new one but never enter another's, so what was proven in one terminal opens
/// nothing for another terminal, a service or a cron job. The leader's start time tells the session from a later one
/// that got the same number. It is the rule of sudo's tickets.
///
/// Where nothing tells the session from another one, a proof counts for the one process: when the leader has ended, which
/// a session can outlive, and in a container whose session was begun outside, where the kernel shows 0 in its place.
package struct AuthenticationSession: Hashable, Sendable {
  package enum Scope: Hashable, Sendable {
    /// The session that this process leads.
    case session
    /// This process alone.
    case process
    /// Those on other hosts who ask by that way through an ssh-agent that this process, or its session, forwards.
    case forwardedAgent(ForwardedWay)
  }

  package var uid: uid_t
  package var scope: Scope
  package var pid: pid_t
  /// The time at which that process started, in clock ticks since boot.
  package var started: UInt64

  package init(uid: uid_t, scope: Scope, pid: pid_t, started: UInt64) {
    (self.uid, self.scope, self.pid, self.started) = (uid, scope, pid, started)
  }
}
