internal import VaultModel

extension Fault {
  /// The words about the error. This table has one entry per error: an error without words does not compile.
  public func words(_ reader: FaultReader = .program) -> FaultWords {
    switch self {
    // The vault.
    case .noVault: FaultWords("there is no vault yet", "make one with \(reader.command("init"))")
    case .vaultExists:
      FaultWords("there is already a vault, and it stays as it is", "open it with \(reader.command("unlock"))")
    case .locked("cold", _):
      FaultWords(
        "the vault is locked (not unlocked since the daemon started)", "open it with \(reader.command("unlock"))")
    case .locked(_, let cause):
      FaultWords(
        "the vault \(cause.hasPrefix("by ") ? "was" : "is") locked\(Clauses.cause(cause))",
        "open it with \(reader.command("unlock"))")
    case .timedOut:
      FaultWords(
        "nobody unlocked the vault, or showed presence, during the wait", "open it with \(reader.command("unlock"))")
    case .rekeying:
      FaultWords(
        "the vault is being given a new key, and until that is done, no way in can be changed and no backup is made",
        "wait for it with \(reader.command("rekey")), or give it up with \(reader.command("rekey --cancel"))")
    case .rekeyRests:
      FaultWords(
        "the vault is being given a new key, which pauses while it is locked",
        "unlock it, then deposit the value again")

    // Items.
    case .noSuchItem(let name, let isDoubtful):
      FaultWords(
        "no item \(Printable.quoted(name))\(isDoubtful == true ? FaultWords.doubt : "")",
        "see \(reader.command(isDoubtful == true ? "verify" : "list"))", journal: ItemProblem.missing)
    case .noSuchVersion(let name, let version):
      FaultWords(
        "\(Printable.quoted(name)) has no version \(version)",
        "the newest ten are kept; see \(reader.command("history"))",
        journal: ItemProblem.noVersion(version))
    case .noSuchDeposit(let number):
      FaultWords("there is no deposit \(number)", "see \(reader.command("deposits"))")
    case .alreadyExists(let name, _):
      FaultWords(
        "\(Printable.quoted(name)) already exists", "use --update to store a new version of it",
        journal: ItemProblem.exists)
    case .expired(let name, let expires): .expired(name, expires, reader)
    case .invalidName(let name, let reason, _): .invalidName(name, reason, reader)
    case .invalidValue(_, let reason, _, true): FaultWords(reason: reason, "make another item")
    case .invalidValue("", let reason, _, _):
      FaultWords(
        "not a valid value: \(Printable.text(reason))", FaultWords.advice("correct it", after: reason), journal: reason)
    case .invalidValue(let kind, let reason, _, _):
      FaultWords(
        "not a valid value for kind \(Printable.text(kind)): \(Printable.text(reason))",
        FaultWords.advice("correct it or give another --kind", after: reason), journal: reason)
    case .wrongKind(let name, let kind):
      FaultWords(
        "\(Printable.quoted(name)) is of kind \(Printable.text(kind))", "only totp items have codes",
        journal: "the item is of another kind")
    case .wrongUse(let name, let use):
      FaultWords(
        "\(Printable.quoted(name)) "
          + (use.map { "is a key for \(Printable.text($0))" } ?? "was stored without a use"),
        "a key is used only for the purpose that \(reader.command("set --use")) gave it",
        journal: "the key is for another use")
    case .neverRead(let name): FaultWords(neverRead: name, use: nil, reader)
    case .notOnTheseTerms(let name, let reason):
      FaultWords(
        "\(Printable.quoted(name)) makes no such token: \(Printable.text(reason))",
        "ask for less, or change the item's attributes", journal: reason)
    case .invalidQuery(let reason, let position): .invalidQuery(reason, at: position)
    case .tooLarge(let limit):
      FaultWords(
        "the limit is \(Counted.size(limit)) per item", "store less, or store it in parts",
        journal: "the value has more than \(limit) bytes")
    case .tooMuch(let reason): FaultWords(reason: reason, "do it in several parts")

    // Rights.
    case .denied(let reason, let request):
      FaultWords(
        "denied: \(Printable.text(reason))",
        request.map { "ask an administrator for \(reader.command("approve \($0)"))" } ?? reader.askOwner,
        journal: reason)
    case .unanswered(let number):
      FaultWords(
        "nobody answered the request during the wait",
        "ask an administrator for \(reader.command("approve\(number.map { " \($0)" } ?? "")"))")
    case .noSuchGrant(let subject):
      FaultWords(
        "\(Printable.text(Printable.whole(subject))) has no such grant", "see \(reader.command("grants"))")
    case .noSuchRequest(let number):
      FaultWords(
        number.map { "there is no request \($0), or it is gone" } ?? "nothing of that kind was denied",
        "see \(reader.command("requests"))")
    case .invalidGrant(let reason): FaultWords(reader.text(reason), "see vault-access(7)", journal: reason)

    // Proofs and ways in.
    case .authenticationFailed(let method, let wait): .authenticationFailed(method, wait)
    case .backingOff(_, let wait): FaultWords("too soon after the last attempt", FaultWords.again(in: wait))
    case .mistypedRecoveryCode:
      FaultWords(
        "the recovery code is mistyped: it is not complete, or its checksum does not match",
        "check it and type it again")
    case .methodUnavailable(let method, let reason, let advice):
      // If the daemon gave advice, that is enough. The status lists the vault's methods only, which say nothing about
      // the methods of a backup.
      FaultWords(
        "\(Printable.quoted(method)) cannot be used: \(reader.text(Clauses.joined(reason, advice)))",
        advice == nil ? "see \(reader.command("status"))" : nil, journal: reason)
    case .accountExpired(let reason):
      FaultWords(reason: reason, "\(reader.command("unlock --method password")) still opens the vault")
    case .tooManyTries:
      FaultWords("too many wrong attempts", "wait, or use \(reader.command("unlock --method password"))")
    case .presenceFailed(let reason):
      FaultWords(
        "could not check who is there: \(Printable.text(reason))",
        "use \(reader.command("unlock --method password"))")
    case .presenceRequired("", _):
      FaultWords("this needs your presence, and nobody was asked", FaultWords.askOnTerminal)
    case .presenceRequired(let name, let require):
      FaultWords(
        "\(Printable.quoted(name)) requires \(Clauses.required(require)), and nobody was asked",
        FaultWords.askOnTerminal, journal: "the item asks for a person each time")
    case .cancelled:
      reader.isAttended
        ? FaultWords("canceled; nothing was changed", nil)
        : FaultWords(
          "the person who was asked declined to answer, or did not give the right password", "ask again in a minute")
    case .noSuchConversation: FaultWords("the question is no longer open", "start again")
    case .weakSecret(let reason): FaultWords(reason: reason, "choose another")
    case .noSuchSlot(let id): FaultWords("there is no slot \(id)", "see \(reader.command("slot list"))")
    case .lastSlot:
      FaultWords(
        "no password and no recovery code would be left, and the other ways in may end by themselves",
        "add a recovery code with \(reader.command("slot add recovery")) first")

    // The daemon and the store.
    case .tooManyConnections(let uid, let limit):
      FaultWords(
        "the daemon has reached its limit of \(limit) clients, and most of them belong to uid \(uid)",
        "end some of them, or try again later")
    case .tooManyRequests(let uid):
      FaultWords("the processes of uid \(uid) ask for too much at once", "try again later")
    case .busy(let reason): .busy(reason)
    case .outOfMemory:
      FaultWords(
        "there is not enough memory to check or make the secret; the secret may be right",
        "free some memory, or raise the limit of vaultd, and try again")
    case .corrupt(let reason, let isNewer, let advice): .corrupt(reason, isNewer, advice, reader)
    case .storageFailed(let reason): .storageFailed(reason, reader)
    case .invalidBackup(let reason):
      FaultWords(
        "the backup cannot be restored: \(Printable.text(reason))", "use another copy of it", journal: reason)
    case .misconfigured(let reason):
      FaultWords(
        reader.text(reason), "correct that and try again (\(reader.command("doctor")) helps)", journal: reason)

    // Calls that the daemon does not understand, and answers that this program does not.
    case .service(.permissionDenied): FaultWords("the daemon denies this", reader.askOwner)
    case .service(.invalidParameter(let parameter)):
      FaultWords("the daemon does not accept \(Printable.quoted(parameter))", "correct it")
    case .service(.interfaceNotFound), .service(.methodNotFound), .service(.methodNotImplemented),
      .service(.expectedMore):
      FaultWords("the daemon has a different version (\(fullName))", "restart it, or update this program")
    case .invalidFrame, .unknown:
      FaultWords(
        "the daemon answered \(Printable.quoted(fullName)), which this program does not know", "update this program")
    }
  }
}
