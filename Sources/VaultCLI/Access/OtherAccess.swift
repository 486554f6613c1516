internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// All rights that a subject has on items now, and their sources according to the daemon: grants to the subject or to
/// its groups, approvals, or the role of an administrator.
///
/// All sentences about a subject's remaining rights come from here, so that no command reports the loss of a right that
/// the subject still has.
struct OtherAccess {
  /// The daemon's answer.
  let reply: Wire.RightsReply
  /// The rights that all or some of the subject's processes have.
  private let held: Rights

  private init(_ reply: Wire.RightsReply) {
    self.reply = reply
    held = Self.rights(reply.rights + reply.some)
  }

  /// Looks up what a subject may do now.
  ///
  /// - Parameter items: the name of an item, or a pattern; nil for all items.
  /// - Returns: nil if that cannot be determined.
  init?(of subject: String, on items: String?, _ session: Session) {
    guard let reply = try? session.call({ vault in try vault.rights(of: subject, items: items) }) else { return nil }
    self.init(reply)
  }

  /// Looks up what a subject may do now with the item of this very name.
  init?(of subject: String, item name: String, _ session: Session) {
    guard let reply = try? session.call({ vault in try vault.rights(of: subject, name: name) }) else { return nil }
    self.init(reply)
  }

  static func rights(_ names: [String]) -> Rights {
    names.reduce(into: []) { if let right = Right(name: $1) { $0.formUnion(Rights(right)) } }
  }

  /// The names of the rights, separated by commas, without rights that another of the listed rights implies.
  static func list(_ rights: Rights) -> String { rights.names.joined(separator: ", ") }

  // MARK: Reasons

  /// The reason why the subject has some of these rights, and the commands that take them back, as in "by the approval
  /// 271828; `vault deny 271828` takes that back".
  func reason(for rights: Rights) -> String { Self.reason(for: rights, reply.sources, more: reply.more ?? 0) }

  static func reason(
    for rights: Rights, _ sources: [Wire.RightsSource], more: Int = 0, withCommands: Bool = true
  ) -> String {
    let giving = sources.filter { !Self.rights($0.rights).isDisjoint(with: rights) }
    if giving.contains(where: { $0.grant == nil && $0.approval == nil }) { return "as an administrator of the vault" }
    let shown = giving.prefix(Self.shown)
    let names = shown.map(name).joined(separator: ", ")
    let beyond = giving.count - shown.count + more
    let rest = beyond > 0 ? " and \(beyond) more" : ""
    let commands = withCommands ? shown.compactMap(command) : []
    guard let last = commands.last else { return "by \(names)\(rest)" }
    let others = commands.dropLast().joined(separator: ", ")
    let all = others.isEmpty ? "\(last) takes that back" : "\(others) and \(last) take that back"
    return "by \(names)\(rest); \(all)"
  }

  /// The number of things that a sentence names.
  private static let shown = 3

  private static func name(_ source: Wire.RightsSource) -> String {
    guard let approval = source.approval else {
      return source.grant.map { "the grant \(Printable.whole($0.subject)) \(Printable.quoted($0.items))" } ?? ""
    }
    var terms: [String] = []
    if let pid = approval.pid { terms.append("for process \(pid) only") }
    if source.some == true, approval.pid == nil { terms.append("for \(Printable.whole(approval.subject))") }
    if let uses = approval.uses { terms.append(uses == 1 ? "once" : "\(uses) times") }
    if let until = approval.until { terms.append("until \(LocalTime.text(until, to: STDERR_FILENO))") }
    let text = terms.isEmpty ? "" : " (\(terms.joined(separator: ", ")))"
    return "the approval \(approval.number ?? 0)\(text)"
  }

  /// The command that takes a grant or an approval back.
  private static func command(_ source: Wire.RightsSource) -> String? {
    if let number = source.approval?.number { return Hint.vault("deny \(number)") }
    return source.grant.map { Hint.vault("revoke \(word($0.subject)) \(word($0.items))") }
  }

  /// The command that ends the confinement of a subject to its grants.
  static func forgetting(_ subject: String) -> String { Hint.vault("grants forget \(word(subject))") }

  /// A word for the shell, made safe for a terminal.
  private static func word(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || ":/.,_-@=+".utf8.contains(byte)
    }
    return isPlain ? text : Printable.text("'\(text.replacing("'", with: #"'\''"#))'")
  }

  // MARK: Sentences

  /// A sentence about the rights that a subject has lost with the revocation of one grant.
  ///
  /// - Parameter other: what the subject may still do; nil if that is not known.
  static func lost(_ rights: [String], _ subject: String, _ items: String, as credential: String?, _ other: Self?)
    -> String
  {
    let (who, what) = (Printable.whole(subject), Printable.quoted(items))
    let name = credential.map { " as its credential \(Printable.quoted($0))" } ?? ""
    let lost = Self.rights(rights)
    guard let other else { return "the grant of \(list(lost)) on \(what)\(name) to \(who) is revoked" }
    // Of a subject with all rights, the sentence names only the rights of the revoked grant.
    let held = other.held.isSuperset(of: Rights(.admin)) ? other.held.intersection(lost) : other.held
    if held.isEmpty { return "\(who) may no longer \(list(lost)) \(what)\(name)" }
    let isExact = (try? ItemPattern(items))?.isExact ?? false
    let isAdministrator = other.reply.sources.contains { $0.grant == nil && $0.approval == nil }
    let reason = other.reason(for: held)
    let items = isExact || isAdministrator ? what : "items of \(what)"
    let gone = lost.subtracting(held)
    return gone.isEmpty
      ? "the grant is revoked, but \(who) may still \(list(held)) \(items), \(reason)"
      : "\(who) may no longer \(list(gone)) \(what)\(name), but may still \(list(held)) \(items), \(reason)"
  }

  /// A sentence about a request that was denied, or an approval that was taken back.
  static func denied(_ subject: String, _ name: String, _ other: Self?) -> String {
    let (who, what) = (Printable.whole(subject), Printable.wholeQuoted(name))
    guard let other else { return "what \(who) asked for \(what) is denied" }
    guard !other.held.isEmpty else { return "\(who) may not have \(what)" }
    let reason = other.reason(for: other.held)
    return "that is denied, but \(who) may still \(list(other.held)) \(what), \(reason)"
  }

  /// The end of a sentence about a new grant: the rights that the subject has beyond it; empty if there are none.
  func beyond(_ rights: [String]) -> String {
    let more = held.subtracting(Self.rights(rights))
    guard !more.isEmpty else { return "" }
    let names = more.names
    return "; it also has the right\(names.count == 1 ? "" : "s") \(Self.list(more)), \(reason(for: more))"
  }

  /// The rest of a sentence, with all rights that the subject has on the items; nil if it has none. `items` is how the
  /// sentence refers to the items, such as "it".
  func whole(_ items: String) -> String? {
    held.isEmpty ? nil : "but may \(Self.list(held)) \(items)\(items == "it" ? "" : ",") \(reason(for: held))"
  }

  /// The rights of every process of the subject, without those that only approvals give, because an approval ends when
  /// the item gets another name. If the daemon did not list all sources, all rights.
  var lasting: [String] {
    guard reply.more == nil else { return reply.rights }
    let lasting = reply.sources.filter { $0.approval == nil && $0.some != true }
    return reply.rights.filter { right in lasting.contains { $0.rights.contains(right) } }
  }
}
