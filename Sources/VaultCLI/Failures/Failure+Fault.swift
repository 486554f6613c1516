internal import Glibc
internal import VaultModel
internal import VaultWire

extension Failure {
  /// Describes a refusal of the daemon.
  init(_ fault: Fault) {
    switch fault {
    case .noVault: self.init(.configuration, "there is no vault yet", "make one with \(Hint.vault("init"))")
    case .vaultExists:
      self.init(.exists, "there is already a vault, and it stays as it is", "open it with \(Hint.vault("unlock"))")
    case .locked(let state, let cause):
      let text =
        state == "cold"
        ? "the vault is locked (not unlocked since the daemon started)"
        : "the vault \(cause.hasPrefix("by ") ? "was" : "is") locked\(Sentence.cause(cause))"
      self.init(.retry, text, "open it with \(Hint.vault("unlock"))")
    case .timedOut:
      self.init(
        .retry, "nobody unlocked the vault, or showed presence, during the wait",
        "open it with \(Hint.vault("unlock"))")
    case .unanswered(let number):
      let request = number.map { " \($0)" } ?? ""
      self.init(
        .retry, "nobody answered the request during the wait",
        "ask an administrator for \(Hint.vault("approve\(request)"))")
    case .noSuchItem(let name, true):
      self.init(.missing, "no item \(Printable.quoted(name))\(Self.doubt)", "see \(Hint.vault("verify"))")
    case .noSuchItem(let name, _):
      self.init(.missing, "no item \(Printable.quoted(name))", "see \(Hint.vault("list"))")
    case .noSuchVersion(let name, let version):
      self.init(.missing, "\(Printable.quoted(name)) has no version \(version)", "see \(Hint.vault("history"))")
    case .noSuchDeposit(let number):
      self.init(.missing, "there is no deposit \(number)", "see \(Hint.vault("deposits"))")
    case .noSuchGrant(let subject):
      let who = Printable.text(Printable.whole(subject))
      self.init(.missing, "\(who) has no such grant", "see \(Hint.vault("grants"))")
    case .noSuchRequest(let number?):
      self.init(.missing, "there is no request \(number), or it is gone", "see \(Hint.vault("requests"))")
    case .noSuchRequest(nil): self.init(.missing, "nothing of that kind was denied", "see \(Hint.vault("requests"))")
    case .invalidGrant(let reason):
      self.init(.usage, Hint.text(reason), "see vault-access(7)")
    case .noSuchSlot(let id): self.init(.missing, "there is no slot \(id)", "see \(Hint.vault("slot list"))")
    case .lastSlot:
      self.init(
        .denied,
        "no password and no recovery code would be left, and the other ways in may end by themselves",
        "add a recovery code "
          + "with \(Hint.vault("slot add recovery")) first")
    case .alreadyExists(let name, _):
      self.init(.exists, "\(Printable.quoted(name)) already exists", "use --update to store a new version of it")
    case .expired(let name, let expires):
      let date = LocalTime.text(expires, to: STDERR_FILENO)
      guard expires <= Int64(time(nil)) else {
        self.init(
          .invalid,
          "\(Printable.quoted(name)) expired on \(date) by the newest time in the store, "
            + "and the clock is behind that time",
          "set the clock, or if it is right, run \(Hint.vault("clock repair"))")
        return
      }
      self.init(
        .invalid,
        "\(Printable.quoted(name)) expired on \(date)",
        "store a new value with --update, or use this one with --expired"
      )
    case .invalidName(let name, _, _) where Folder(name) != nil && (try? ItemName(String(name.dropLast()))) != nil:
      self.init(
        .invalid, "\(Printable.quoted(name)) is the name of a folder, not of an item",
        "leave the slash out, or list the folder with \(Hint.vault("list"))")
    case .invalidName(let name, let reason, _):
      self.init(
        .invalid, "\(Printable.quoted(name)) is not a valid item name: \(Printable.text(reason))", "choose another")
    case .invalidValue(_, let reason, _, true):
      self.init(.invalid, Printable.text(reason), "make another item")
    case .invalidValue(let kind, let reason, _, _):
      self.init(
        .invalid,
        "not a valid value\(kind.isEmpty ? "" : " for kind \(Printable.text(kind))"): \(Printable.text(reason))",
        kind.isEmpty ? "correct it" : "correct it or give another --kind")
    case .wrongKind(let name, let kind):
      self.init(.invalid, "\(Printable.quoted(name)) is of kind \(Printable.text(kind))", "only totp items have codes")
    case .wrongUse(let name, let use):
      let use = use.map { "is a key for \(Printable.text($0))" } ?? "was stored without a use"
      self.init(
        .invalid, "\(Printable.quoted(name)) \(use)",
        "a key is used only for what \(Hint.vault("set --use")) made it for")
    case .neverRead(let name): self.init(neverRead: name, use: nil)
    case .notOnTheseTerms(let name, let reason):
      self.init(
        .denied, "\(Printable.quoted(name)) makes no such token: \(Printable.text(reason))",
        "ask for less, or change the item's attributes")
    case .tooLarge(let limit):
      self.init(.invalid, "the limit is \(Sizes.text(limit)) per item", "store less, or store it in parts")
    default: self.init(ofState: fault)
    }
  }

  /// Describes the refusal to return a key that is never read.
  ///
  /// - Parameter use: the key's use; nil if the caller may not know it.
  init(neverRead name: String, use: KeyUse?) {
    let way =
      switch use {
      case .sign: Hint.vault("sign")
      case .mac: Hint.vault("mac")
      case .jwt: Hint.vault("token issue")
      case .totp: Hint.vault("totp")
      case .ssh: "ssh or `ssh-keygen -Y sign` through the ssh-agent of vault-ssh(7)"
      case nil: "the command for its use, which \(Hint.vault("show")) says"
      }
    self.init(
      .denied, "\(Printable.quoted(name)) is a key that is never read, and only a generated key can replace it",
      "use it with \(way), or make a new one with \(Hint.vault("set --update --generate STYLE"))")
  }

  /// Describes a refusal that is not about one item.
  private init(ofState fault: Fault) {
    switch fault {
    case .invalidQuery(let reason, let position) where reason.contains("quote"):
      self.init(
        .usage, "invalid query at byte \(position): \(Printable.text(reason))",
        "put quotes around the value, and around the predicate for the shell: 'owner=\"ana smith\"'")
    case .invalidQuery(let reason, let position):
      self.init(.usage, "invalid query at byte \(position): \(Printable.text(reason))", "see `vault help find`")
    case .authenticationFailed(SlotKind.pam.name, let wait):
      self.init(.denied, "you were not recognized", "try again in \(Failure.seconds(wait))")
    case .authenticationFailed(let method, let wait):
      let what = SlotKind(name: method)?.facts.secret == .code ? "recovery code" : "password"
      self.init(.denied, "wrong \(what)", "try again in \(Failure.seconds(wait))")
    case .backingOff(_, let wait):
      self.init(.retry, "too soon after the last attempt", "try again in \(Failure.seconds(wait))")
    case .mistypedRecoveryCode:
      self.init(.invalid, "the recovery code is mistyped: its checksum does not match", "check it and type it again")
    case .methodUnavailable(let method, let reason, let advice):
      let text = Hint.text(Sentence.joined(reason, advice))
      // If the daemon gave advice, that is enough. The status lists the vault's methods only, which say nothing about
      // the methods of a backup.
      let advice = advice == nil ? "see \(Hint.vault("status"))" : nil
      self.init(.configuration, "\(Printable.quoted(method)) cannot be used: \(text)", advice)
    case .accountExpired(let reason):
      self.init(.denied, "\(Printable.text(reason))", "\(Hint.vault("unlock --method password")) still opens the vault")
    case .presenceRequired("", _):
      self.init(
        .denied, "this needs your presence, and nobody was asked",
        Self.askOnTerminal
      )
    case .presenceRequired(let name, let require):
      self.init(
        .denied,
        "\(Printable.quoted(name)) requires \(Sentence.required(require)), and nobody was asked",
        Self.askOnTerminal
      )
    case .tooManyTries:
      self.init(.denied, "too many wrong attempts", "wait, or use \(Hint.vault("unlock --method password"))")
    case .presenceFailed(let reason):
      self.init(
        .denied, "could not check who is there: \(Printable.text(reason))",
        "use \(Hint.vault("unlock --method password"))"
      )
    default: self.init(ofDaemon: fault)
    }
  }

  /// Describes a fault of the daemon or of the store.
  private init(ofDaemon fault: Fault) {
    switch fault {
    case .rekeying:
      self.init(
        .retry,
        "the vault is being given a new key, and until then no way in can be changed and no backup is made",
        "wait for it with \(Hint.vault("rekey")), or give it up with \(Hint.vault("rekey --cancel"))"
      )
    case .rekeyRests:
      self.init(
        .retry, "the vault is being given a new key, which pauses while it is locked",
        "unlock it, then deposit the value again")
    case .cancelled where Keyboard.isAttended:
      self.init(.denied, "canceled; nothing was changed")
    case .cancelled:
      self.init(
        .denied, "the person who was asked declined to answer, or did not give the right password",
        "ask again in a minute")
    case .noSuchConversation: self.init(.retry, "the question is no longer open", "start again")
    case .weakSecret(let reason): self.init(.invalid, "\(Printable.text(reason))", "choose another")
    case .tooMuch(let reason): self.init(.invalid, "\(Printable.text(reason))", "do it in several parts")
    case .tooManyConnections(let uid, let limit):
      self.init(
        .retry, "the daemon has reached its limit of \(limit) clients, and most of them belong to uid \(uid)",
        "end some of them, or try again later")
    case .tooManyRequests(let uid):
      self.init(.retry, "the processes of uid \(uid) ask for too much at once", "try again later")
    case .denied(let reason, let request?):
      self.init(
        .denied, "denied: \(Printable.text(reason))", "ask an administrator for \(Hint.vault("approve \(request)"))")
    case .denied(let reason, nil): self.init(.denied, "denied: \(Printable.text(reason))", Self.askOwner)
    case .corrupt(let reason, true, let advice):
      self.init(.invalid, Hint.text(Sentence.joined(reason, advice ?? "update vault")))
    case .corrupt(let reason, false, let advice):
      let text = Sentence.joined(reason, advice ?? Self.damagedStore)
      self.init(.invalid, "the store cannot be trusted: \(Hint.text(text))")
    case .storageFailed(StoreProblem.diskFull):
      self.init(.io, StoreProblem.diskFull, "free some space and try again")
    case .storageFailed(StoreProblem.unrecorded(StoreProblem.diskFull)):
      self.init(.io, StoreProblem.unrecorded(StoreProblem.diskFull), "free some space and try again")
    case .storageFailed(StoreProblem.unrecordedInFailed):
      self.init(.io, StoreProblem.unrecordedInFailed, "\(Hint.vault("verify")) says what is wrong")
    case .storageFailed(let reason) where StoreProblem.isHidden(reason):
      self.init(.io, Printable.text(reason), StoreProblem.untilSeen)
    case .storageFailed(let reason):
      self.init(
        .io, "the store could not be written or read: \(Printable.text(reason))",
        "check the disk's space and health, then try again")
    case .outOfMemory:
      self.init(
        .retry,
        "there is not enough memory to check or make the secret, which may be right",
        "free some memory, or raise the limit of vaultd, and try again"
      )
    case .busy(let reason): self.init(.retry, "\(Printable.text(reason))", Self.advice(busy: reason))
    case .invalidBackup(let reason):
      self.init(.invalid, "the backup cannot be restored: \(Printable.text(reason))", "use another copy of it")
    case .misconfigured(let reason):
      self.init(
        .configuration, Hint.text(reason), "correct that and try again (\(Hint.vault("doctor")) helps)")
    case .service(let fault): self.init(fault)
    default:
      self.init(
        .software, "the daemon answered \(Printable.quoted(fault.fullName)), which this program does not know",
        "update it")
    }
  }

  private init(_ fault: ServiceFault) {
    switch fault {
    case .permissionDenied: self.init(.denied, "the daemon denies this", Self.askOwner)
    case .invalidParameter(let parameter):
      self.init(.usage, "the daemon does not accept \(Printable.quoted(parameter))", "correct it")
    default:
      self.init(.software, "the daemon is of another version (\(fault.fullName))", "restart it, or update this program")
    }
  }

  /// The advice if a person would have to be asked and nobody was.
  static let askOnTerminal = "run it on a terminal"

  /// The advice for a store that cannot be opened or that holds a part which was changed.
  static var damagedStore: String {
    "stop vaultd (see restore in vault(1)), move the store's folder aside as it is, and restore a backup; "
      + "\(Hint.vault("salvage")) saves whatever is intact in a store that still opens"
  }

  /// The advice for a daemon that is busy, or for a call that something has ended meanwhile.
  private static func advice(busy reason: String) -> String {
    if reason.hasSuffix("locked meanwhile") { return "unlock it, and try again" }
    // The second is that of a helper that has hung.
    return reason.hasSuffix("meanwhile") || reason.hasSuffix("was ended") ? "try again" : "try again when that is done"
  }

  /// The seconds in words, rounded up. The number comes from the daemon and may be any.
  private static func seconds(_ milliseconds: Int) -> String {
    "\(max(1, milliseconds / 1000 + (milliseconds % 1000 > 0 ? 1 : 0))) s"
  }
}
