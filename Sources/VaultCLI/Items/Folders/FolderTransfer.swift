internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// A move or a copy of one folder to another one, item by item. Each item is moved or copied whole or not at all. An
/// interrupted transfer therefore leaves no item half done, and the same command continues with the rest.
struct FolderTransfer {
  enum Act {
    case move
    case copy(force: Bool, expired: Bool)
  }

  /// The most names that are shown.
  private static let shown = 20

  let act: Act
  let from: Folder
  let to: Folder
  let yes: Bool

  /// Takes the folders that two arguments name; nil if both name items.
  init?(_ act: Act, _ from: String, _ to: String, yes: Bool) throws(Failure) {
    switch (Folder(from), Folder(to)) {
    case (nil, nil): return nil
    case (let source?, let target?): (self.from, self.to) = (source, target)
    default:
      throw Failure(
        .usage, "a folder can only go to a folder", "end both names with a slash")
    }
    (self.act, self.yes) = (act, yes)
    guard !self.from.overlaps(self.to) else {
      throw Failure(.usage, "the two folders are the same, or one is within the other", "give another folder")
    }
  }

  private struct Step {
    let from: String
    let to: String
  }

  func run(_ session: Session, json: Bool) throws(Failure) {
    let items = inOrder(try from.someItems(session))
    let steps = items.map { Step(from: $0.name, to: from.name(of: $0.name, in: to)) }
    try checkNames(steps)
    try checkExpiry(items)
    let (left, done, replaced) = try pending(steps, session)
    if !left.isEmpty, !yes { try ask(left, done: done, replaced: replaced, session) }
    let progress = Progress()
    defer { progress.clear() }
    var count = 0
    do throws(Failure) {
      for step in left {
        try carry(step, session)
        count += 1
        progress.show("\(verb.done) \(count) of \(Folder.count(left.count))")
      }
    } catch {
      if error.exit == .exists {
        throw Failure(
          .exists, "\(error.event) by now (\(count) of \(Folder.count(left.count)) \(verb.done) before that)",
          "rename or delete it, and give the same command again for the rest")
      }
      throw Failure(
        error.exit, "\(error.message) (\(count) of \(Folder.count(left.count)) \(verb.done) before that)",
        "give the same command again for the rest")
    }
    progress.clear()
    try report(count, done: done, json: json)
    // Without the question, nobody was told before.
    guard yes, !json, Keyboard.isAttended else { return }
    for line in try FolderAccess.lines(changes(left), session) { Output.note(line) }
  }

  private var verb: (asked: String, done: String) {
    switch act {
    case .move: ("Move", "moved")
    case .copy: ("Copy", "copied")
    }
  }

  /// The items in the order in which no key for tokens is ever without its list of revoked tokens: a move of the key
  /// takes the list along, and a copy of the list comes before the copy of the key.
  private func inOrder(_ items: [Wire.Item]) -> [Wire.Item] {
    let lists = items.filter { TokenList(named: $0.name) != nil }
    guard !lists.isEmpty else { return items }
    let others = items.filter { TokenList(named: $0.name) == nil }
    return switch act {
    case .move: others + lists
    case .copy: lists + others
    }
  }

  // MARK: Checks

  /// Refuses names that no item can have, such as a name that has become too long.
  private func checkNames(_ steps: [Step]) throws(Failure) {
    for step in steps {
      do throws(NameError) { _ = try ItemName(step.to) } catch {
        throw Failure(
          .usage, "\(Printable.quoted(step.from)) cannot be called \(Printable.quoted(step.to)): \(error.reason)",
          "nothing was \(verb.done); choose another folder")
      }
    }
  }

  private func checkExpiry(_ items: [Wire.Item]) throws(Failure) {
    guard case .copy(force: _, expired: false) = act else { return }
    let now = Int64(time(nil))
    let past = items.filter { $0.expires.map { $0 <= now } ?? false }
    guard !past.isEmpty else { return }
    throw refusal(
      .invalid, "\(Folder.count(past.count)) in it \(past.count == 1 ? "has" : "have") expired, and nothing was copied",
      "add --expired to copy these items, too:", past.map(\.name))
  }

  /// Returns the remaining steps, the number of steps that an earlier run has done, and the number of steps that
  /// replace an item. Refuses names that other items have.
  private func pending(
    _ steps: [Step], _ session: Session
  ) throws(Failure) -> (left: [Step], done: Int, replaced: Int) {
    let there = Set(try to.items(session).map { Array($0.name.utf8) })
    let taken = steps.filter { there.contains(Array($0.to.utf8)) }
    guard !taken.isEmpty else { return (steps, 0, 0) }
    switch act {
    case .move: throw clash(taken)
    case .copy(let force, let expired):
      var made: Set<[UInt8]> = []
      let progress = Progress()
      defer { progress.clear() }
      for (number, step) in taken.enumerated() {
        if try isCopied(step, expired: expired, session) { made.insert(Array(step.to.utf8)) }
        progress.show("compared \(number + 1) of \(Folder.count(taken.count))")
      }
      let others = taken.filter { !made.contains(Array($0.to.utf8)) }
      if !others.isEmpty, !force { throw clash(others) }
      return (steps.filter { !made.contains(Array($0.to.utf8)) }, made.count, others.count)
    }
  }

  /// Returns true if the target already is a copy of the item, made by an earlier run.
  private func isCopied(_ step: Step, expired: Bool, _ session: Session) throws(Failure) -> Bool {
    do throws(Failure) {
      _ = try session.unlocking { vault in try vault.copied(step.from, to: step.to, expired: expired) }
      return true
    } catch {
      guard error.exit == .exists else { throw error }
      return false
    }
  }

  private func clash(_ taken: [Step]) -> Failure {
    let advice =
      switch act {
      case .move: "choose another folder, or delete these first:"
      case .copy: "choose another folder, or replace these with --force:"
      }
    let verb = taken.count == 1 ? "is" : "are"
    return refusal(
      .exists, "\(Folder.count(taken.count)) \(verb) already there, and nothing was \(self.verb.done)", advice,
      taken.map(\.to))
  }

  private func refusal(_ exit: Exit, _ event: String, _ advice: String, _ names: [String]) -> Failure {
    var failure = Failure(exit, event, advice)
    failure.names = Self.listed(names)
    return failure
  }

  /// Returns the first names, and the number of the others.
  static func listed(_ names: [String]) -> [String] {
    let rest = names.count - shown
    return Array(names.prefix(shown)) + (rest > 0 ? ["and \(rest) more"] : [])
  }

  /// The names that items lose and get.
  private func changes(_ steps: [Step]) -> [FolderAccess.Change] {
    steps.map { step in
      switch act {
      case .move: (step.from, step.to)
      case .copy: (nil, step.to)
      }
    }
  }

  private func ask(_ left: [Step], done: Int, replaced: Int, _ session: Session) throws(Failure) {
    let what = Folder.count(left.count)
    let replacing = replaced > 0 ? ", and replace \(Folder.count(replaced)) there" : ""
    let access = try FolderAccess.lines(changes(left), session)
    let effect = access.isEmpty ? "" : ", and \(access.joined(separator: "; "))"
    let there = done > 0 ? ["\(Folder.count(done)) \(done == 1 ? "is" : "are") copied already"] : []
    try Confirmation(
      consequence: "\(what) would be \(verb.done)\(replaced > 0 ? " and \(replaced) replaced" : "")\(effect)",
      question: "\(verb.asked) \(what) from \(Printable.wholeQuoted(from.prefix)) "
        + "to \(Printable.wholeQuoted(to.prefix))\(replacing)?",
      facts: Self.listed(left.map(\.from)).map { Printable.whole($0) } + access + there
    ).ask()
  }

  // MARK: The transfer

  private func carry(_ step: Step, _ session: Session) throws(Failure) {
    try session.unlocking { vault in
      switch act {
      case .move:
        do { try vault.move(step.from, to: step.to) } catch {
          // A list of revoked tokens has gone along with its item.
          guard case ClientError.fault(.noSuchItem) = error, TokenList(named: step.from) != nil,
            (try? vault.show(step.to)) != nil
          else { throw error }
        }
      case .copy(let force, let expired):
        _ = try vault.copy(step.from, to: step.to, replacing: force, expired: expired)
      }
    }
  }

  private func report(_ count: Int, done: Int, json: Bool) throws(Failure) {
    if json {
      return try Output.json { object in
        object.add("from", from.prefix)
        object.add("to", to.prefix)
        switch act {
        case .move: object.add("moved", count)
        case .copy: object.add("copied", count)
        }
        if done > 0 { object.add("there", done) }
      }
    }
    guard Keyboard.isAttended else { return }
    let there = done > 0 ? "; \(Folder.count(done)) \(done == 1 ? "was" : "were") there already" : ""
    Output.note(
      "\(verb.done) \(Folder.count(count)) from \(Printable.quoted(from.prefix)) to "
        + "\(Printable.quoted(to.prefix))\(there)"
    )
  }
}
