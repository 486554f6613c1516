internal import VaultModel
internal import VaultWire

extension Failure {
  /// Describes a refusal of the daemon.
  init(_ fault: Fault) {
    if case .noVault = fault, let remnant = StorePaths.usualRemnant {
      self.init(
        Exit(fault), "there is no vault here: \(Printable.text(remnant))",
        "\(StorePaths.remnantAdvice); \(Hint.vault("init")) makes a new vault")
    } else {
      self.init(Exit(fault), fault.words(Hint.reader()))
    }
  }

  /// Describes the refusal to return a key that is never read.
  ///
  /// - Parameter use: the key's use; nil if the caller may not know it.
  init(neverRead name: String, use: KeyUse?) {
    self.init(.denied, FaultWords(neverRead: name, use: use, Hint.reader()))
  }

  /// Describes the daemon's refusal of its settings, to a person who ran a command that has the daemon read them.
  init(settings reason: String) {
    // Some reasons end with advice of their own.
    let hasAdvice = reason.contains("; ") && !reason.hasSuffix("?")
    let again = hasAdvice ? "then run this again" : "correct it, and run this again"
    self.init(.configuration, Printable.text(reason), again)
  }

  private init(_ exit: Exit, _ words: FaultWords) { self.init(exit, words.event, words.advice) }

  /// The advice if a person would have to be asked and nobody was.
  static let askOnTerminal = FaultWords.askOnTerminal
}

extension Exit {
  /// The exit code after a refusal of the daemon.
  init(_ fault: Fault) {
    self =
      switch fault {
      case .invalidGrant, .invalidQuery, .service(.invalidParameter): .usage
      case .expired, .invalidName, .invalidValue, .wrongKind, .wrongUse, .mistypedRecoveryCode, .weakSecret, .tooLarge,
        .tooMuch, .corrupt, .invalidBackup:
        .invalid
      case .noSuchItem, .noSuchVersion, .noSuchSlot, .noSuchGrant, .noSuchRequest, .noSuchDeposit: .missing
      case .vaultExists, .alreadyExists: .exists
      case .storageFailed: .io
      case .locked, .timedOut, .unanswered, .backingOff, .rekeying, .rekeyRests, .noSuchConversation,
        .tooManyConnections, .tooManyRequests, .outOfMemory, .busy:
        .retry
      case .lastSlot, .neverRead, .notOnTheseTerms, .authenticationFailed, .accountExpired, .tooManyTries,
        .presenceFailed, .presenceRequired, .cancelled, .denied, .service(.permissionDenied):
        .denied
      case .noVault, .methodUnavailable, .misconfigured: .configuration
      case .invalidFrame, .unknown, .service(.interfaceNotFound), .service(.methodNotFound),
        .service(.methodNotImplemented), .service(.expectedMore):
        .software
      }
  }
}
