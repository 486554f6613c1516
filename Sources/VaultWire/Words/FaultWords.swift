public import VaultModel

/// The words about an error, for all programs: they are written once, in ``Fault/words(_:)``. Lower case, on one line,
/// safe for a terminal, no secret, no final period.
public struct FaultWords: Hashable, Sendable {
  /// The fact, for the person whose call it was.
  public let event: String
  /// The advice for the next step; nil if there is none, or the event has it.
  public let advice: String?
  /// The fact, for a log and for programs that may log it. It names no item, because names may be hidden, and quotes
  /// the daemon's reasons as they are.
  public let journal: String

  /// - Parameter journal: nil if the log gets the event as well.
  init(_ event: String, _ advice: String?, journal: String? = nil) {
    (self.event, self.advice, self.journal) = (event, advice, journal ?? event)
  }

  /// The words for an error whose event is the daemon's reason.
  init(reason: String, _ advice: String?) { self.init(Printable.text(reason), advice, journal: reason) }

  /// The words for the refusal to return a key that is never read.
  ///
  /// - Parameter use: the key's use; nil if the caller may not know it.
  public init(neverRead name: String, use: KeyUse?, _ reader: FaultReader) {
    let way =
      switch use {
      case .sign: reader.command("sign")
      case .mac: reader.command("mac")
      case .jwt: reader.command("token issue")
      case .totp: reader.command("totp")
      case .ssh: "ssh or `ssh-keygen -Y sign` through the ssh-agent of vault-ssh(7)"
      case nil: "the command for its use, which \(reader.command("show")) says"
      }
    self.init(
      "\(Printable.quoted(name)) is a key that is never read, and only a generated key can replace it",
      "use it with \(way), or make a new one with \(reader.command("set --update --generate STYLE"))",
      journal: ItemProblem.neverRead)
  }

  /// The general advice after the daemon's reason; nil if the reason ends with advice of its own.
  static func advice(_ text: String, after reason: String) -> String? { reason.contains("; ") ? nil : text }

  /// The doubt about the store that follows the name of a missing item.
  public static let doubt = " (the integrity of the store is not confirmed)"

  /// The advice if a person would have to be asked and nobody was.
  public static let askOnTerminal = "run it on a terminal"

  static func expired(_ name: String, _ expires: Int64, _ reader: FaultReader) -> FaultWords {
    let event = "\(Printable.quoted(name)) expired on \(reader.date(expires))"
    let journal = ItemProblem.expired
    guard expires > reader.now else {
      return FaultWords(event, "store a new value with --update, or use this one with --expired", journal: journal)
    }
    return FaultWords(
      "\(event) by the newest time in the store, and the clock is behind that time",
      "set the clock, or if it is right, run \(reader.command("clock repair"))", journal: journal)
  }

  static func invalidName(_ name: String, _ reason: String, _ reader: FaultReader) -> FaultWords {
    if name.utf8.last == UInt8(ascii: "/"), (try? ItemName(String(name.dropLast()))) != nil {
      return FaultWords(
        "\(Printable.quoted(name)) is the name of a folder, not of an item",
        "leave the slash out, or list the folder with \(reader.command("list"))", journal: reason)
    }
    return FaultWords(
      "\(Printable.quoted(name)) is not a valid item name: \(Printable.text(reason))", "choose another",
      journal: reason)
  }

  static func invalidQuery(_ reason: String, at position: Int) -> FaultWords {
    FaultWords(
      "invalid query at byte \(position): \(Printable.text(reason))",
      reason.contains("quote")
        ? "put quotes around the value, and around the predicate for the shell: 'owner=\"ana smith\"'"
        : "see `vault help find`", journal: reason)
  }

  static func authenticationFailed(_ method: String, _ milliseconds: Int) -> FaultWords {
    let event =
      if method == SlotKind.pam.name {
        "you were not recognized"
      } else {
        SlotKind(name: method)?.facts.secret == .code ? "wrong recovery code" : "wrong password"
      }
    // The log has other readers than the person who tried.
    return FaultWords(event, again(in: milliseconds), journal: "the secret was not accepted")
  }

  static func corrupt(_ reason: String, _ isNewer: Bool, _ advice: String?, _ reader: FaultReader) -> FaultWords {
    if isNewer {
      return FaultWords(reader.text(Clauses.joined(reason, advice ?? "update vault")), nil, journal: reason)
    }
    let damagedStore =
      "stop vaultd (see restore in vault(1)), move the store's folder aside as it is, and restore a backup; "
      + "\(reader.command("salvage")) saves whatever is intact in a store that still opens"
    let text = reader.text(Clauses.joined(reason, advice ?? damagedStore))
    return FaultWords("the store cannot be trusted: \(text)", nil, journal: reason)
  }

  static func storageFailed(_ reason: String, _ reader: FaultReader) -> FaultWords {
    switch reason {
    case StoreProblem.diskFull, StoreProblem.unrecorded(StoreProblem.diskFull):
      FaultWords(reason, "free some space and try again")
    case StoreProblem.unrecordedInFailed: FaultWords(reason, "\(reader.command("verify")) says what is wrong")
    default:
      StoreProblem.effect(of: reason).map { FaultWords(reason: reason, $0) }
        ?? FaultWords(
          "the store could not be written or read: \(Printable.text(reason))",
          advice("check the disk's space and health, then try again", after: reason), journal: reason)
    }
  }

  /// The words for a daemon that is busy. The reason has advice of its own if something has ended the call.
  static func busy(_ reason: String) -> FaultWords {
    FaultWords(reason: reason, advice("try again when that is done", after: reason))
  }

  /// The advice to wait. The number comes from the daemon and may have any value.
  static func again(in milliseconds: Int) -> String {
    "try again in \(max(1, milliseconds / 1000 + (milliseconds % 1000 > 0 ? 1 : 0))) s"
  }
}
