internal import VaultService

extension Presence.Means {
  /// Asks PAM through `helper`, and fprintd on the system bus.
  ///
  /// - Parameters:
  ///   - owner: the uid of the daemon.
  ///   - worker: the worker that asks the name service.
  init(through helper: PresenceHelper, _ systemBus: Bus?, owner: UInt32, _ worker: any Worker) {
    self.init(
      fingers: { uid, then in
        // To fprintd an empty name means the caller, so in the usual case the name service is not asked.
        if uid == owner { return FingerprintReader.ask(systemBus, for: "", then: then) }
        worker.run {
          UserName.of(uid)
        } then: { name in
          guard let name else { return then(.unknown("uid \(uid) is not a user of this machine")) }
          FingerprintReader.ask(systemBus, for: name, then: then)
        }
      },
      obstacle: { question in PresenceCheck.obstacle(to: question.pam, uid: question.uid, through: helper) },
      check: { question, onPrompt, onEnd in
        PresenceCheck(through: helper, service: question.pam, uid: question.uid, onPrompt: onPrompt, onEnd: onEnd)
      })
  }
}
