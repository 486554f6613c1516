internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct TrashCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trash",
    abstract: "List deleted items, restore them, or delete them for good.",
    discussion: """
      Deleted items stay in the trash for 30 days, unless vaultd.conf(5) says otherwise. No get and no search finds \
      them there.
      """,
    subcommands: [TrashListCommand.self, TrashRestoreCommand.self, TrashEmptyCommand.self],
    defaultSubcommand: TrashListCommand.self)
}

struct TrashListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the deleted items that can be restored, the last deleted first.",
    discussion: "One name on each line; on a terminal a table.")

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    try session.needAllNames()
    let items = try session.unlocking { vault in try vault.find(inTrash: true) }
    var table = Table("NAME", "KIND", "DELETED", "GONE IN")
    for item in items.sorted(by: { ($1.deleted ?? 0, $0.name) < ($0.deleted ?? 0, $1.name) }) {
      if globals.json {
        try Output.json(item)
      } else if Output.isTerminal {
        table.add(
          .init(Printable.whole(item.name)), .init(item.kind), .init(item.deleted.map { LocalTime.text($0) } ?? ""),
          .init(item.left.map { Seconds.format(Int64($0)) } ?? ""))
      } else {
        try Output.line(item.name)
      }
    }
    if !globals.json, Output.isTerminal, table.count > 0 { try Output.text(table.text()) }
    if items.isEmpty, !globals.json, Keyboard.isAttended { Output.note("the trash is empty") }
  }
}

struct TrashRestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Restore deleted items as they were.",
    discussion: """
      If several items have the same name, the last deleted item is restored; an earlier item can be restored when \
      that item has another name. A name with a slash at its end is a folder, and stands for all of its items in the \
      trash.
      """)

  @Argument(
    help: ArgumentHelp("The names of the items, or folders.", valueName: "names"), completion: Completes.trash.kind)
  var names: [String]

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let names = try all(session)
    var restored: [String] = []
    var open: [(name: String, access: [Wire.Access])] = []
    let progress = Progress()
    defer { progress.clear() }
    for name in names {
      do throws(Failure) {
        let reply = try session.unlocking { vault in try vault.undelete(name) }
        if let access = reply.openTo { open.append((name, access)) }
      } catch {
        progress.clear()
        noteLists(restored, session)
        throw explain(error, name, restored.count, session)
      }
      restored.append(name)
      progress.show("\(restored.count) of \(Counted.text(names.count, "item")) restored")
    }
    progress.clear()
    if globals.json {
      try Output.json { $0.add("restored", restored) }
    } else if Keyboard.isAttended {
      Output.note("\(names.count == 1 ? Printable.quoted(names[0]) : "\(names.count) items") restored from the trash")
      for (name, access) in open where !access.isEmpty {
        Output.note("\(Printable.quoted(name)) is \(AccessChange.openness(access))")
      }
    }
    noteLists(restored, session)
  }

  /// Says which of the restored items accept their revoked tokens again.
  private func noteLists(_ restored: [String], _ session: Session) {
    for list in withoutList(restored, session) {
      let command = Hint.vault("trash restore \(Printable.line(list.name))")
      Output.note(
        "\(Printable.quoted(list.owner)) accepts its revoked tokens again: their list is still in the trash; "
          + "\(command) restores it, too")
    }
  }

  /// The lists of revoked tokens that are in the trash although their items were restored and have no list now.
  private func withoutList(_ restored: [String], _ session: Session) -> [TokenList] {
    func isMissing(_ list: TokenList) -> Bool { (try? list.isMissing(session)) == true }
    var lists = restored.map(TokenList.init(of:))
    // A search reads all of the trash, so a few items are looked at first: most make no tokens, and need no search.
    let areFew = lists.count <= 16
    if areFew { lists = lists.filter(isMissing) }
    guard !lists.isEmpty,
      let deleted = try? session.call({ vault in try vault.find("name~**\(TokenList.ending)", inTrash: true) })
    else { return [] }
    let names = Set(deleted.map { Array($0.name.utf8) })
    return lists.filter { names.contains(Array($0.name.utf8)) && (areFew || isMissing($0)) }
  }

  /// The given names, with the items of each folder in its place.
  private func all(_ session: Session) throws(Failure) -> [String] {
    guard names.contains(where: { Folder($0) != nil }) else { return Self.inOrder(names) }
    try session.needAllNames()
    let deleted = try session.unlocking { vault in try vault.find(inTrash: true) }.map(\.name)
    var all: [String] = []
    for name in names {
      guard let folder = Folder(name) else {
        all.append(name)
        continue
      }
      var seen: Set<[UInt8]> = []
      let found = deleted.filter { $0.utf8.starts(with: folder.prefix.utf8) && seen.insert(Array($0.utf8)).inserted }
      guard !found.isEmpty else {
        throw Failure(.missing, "no item of \(Printable.quoted(name)) is in the trash", "see \(Hint.vault("trash"))")
      }
      all += found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
    return Self.inOrder(all)
  }

  /// The names in the order in which no key for tokens is ever without its list of revoked tokens, even if the command
  /// ends early.
  private static func inOrder(_ names: [String]) -> [String] {
    names.filter { TokenList(named: $0) != nil } + names.filter { TokenList(named: $0) == nil }
  }

  private func explain(_ error: Failure, _ name: String, _ count: Int, _ session: Session) -> Failure {
    let before = count == 0 ? "" : " (\(count) restored before that)"
    let item = Printable.quoted(name)
    return switch error.exit {
    case .missing: Failure(.missing, "\(item) is not in the trash\(before)", advice(name, session))
    case .exists:
      Failure(
        .exists, "there is another \(item) by now\(before)", "rename that with \(Hint.vault("mv")), and try again")
    default: Failure(error.exit, error.event + before, error.advice)
    }
  }

  private func advice(_ name: String, _ session: Session) -> String {
    let items = Keyboard.isAttended ? try? session.call { vault in try vault.find(inTrash: true) } : nil
    let near = Nearest.names(to: name, among: (items ?? []).map(\.name), beginnings: true)
    return Suggestion.text(near, insteadOf: name) ?? "see \(Hint.vault("trash"))"
  }
}

struct TrashEmptyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "empty",
    abstract: "Delete everything in the trash for good.",
    discussion: "Items that are deleted after the question stay in the trash.")

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let last = yes ? nil : try ask(session)
    let deleted = try session.unlocking { vault in try vault.emptyTrash(through: last) }
    if globals.json {
      try Output.json { $0.add("deleted", deleted) }
    } else if Keyboard.isAttended {
      Output.note(deleted > 0 ? "deleted \(TrashEmptyCommand.items(deleted)) for good" : unchanged(session, last))
    }
  }

  /// The outcome in words if nothing was deleted.
  ///
  /// - Parameter last: the number of the last deletion that was shown; 0 if the trash was empty, nil if nobody was
  ///   asked.
  private func unchanged(_ session: Session, _ last: Int?) -> String {
    guard let last, last > 0 else { return "the trash was empty" }
    let count = (try? session.call { vault in try vault.find(inTrash: true) })?.count ?? 0
    let rest = count == 0 ? "" : "; what was deleted since stays: \(TrashEmptyCommand.items(count))"
    return "nothing that was shown is in the trash any more\(rest)"
  }

  /// Asks about the items that are in the trash now.
  ///
  /// - Returns: the number of the last of their deletions.
  private func ask(_ session: Session) throws(Failure) -> Int {
    try session.needAllNames()
    let items = try session.unlocking { vault in try vault.find(inTrash: true) }
    guard !items.isEmpty else { return 0 }
    let what = TrashEmptyCommand.items(items.count)
    let losses = AppSecrets.lines(items.compactMap(AppSecrets.app))
    let effect = losses.isEmpty ? "" : ", and \(losses.joined(separator: "; "))"
    try Confirmation(
      consequence: "this would delete \(what) for good\(effect)",
      question: "Delete the \(what) in the trash for good?", facts: losses
    ).ask()
    return items.compactMap(\.deletion).max() ?? 0
  }

  private static func items(_ count: Int) -> String { Counted.text(count, "item") }
}

struct RestoreVersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore-version",
    abstract: "Make an older value of an item the current value again.",
    discussion: """
      It becomes a new version, and the item keeps its expiry. The command needs whatever reading the item needs. \
      `vault history` lists the versions.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @Argument(help: ArgumentHelp("The number of the version.", valueName: "number"))
  var version: Int

  @OptionGroup var globals: Globals

  func validate() throws {
    if version < 1 { throw ValidationError("versions are counted from 1") }
  }

  func run() throws {
    let session = try Session(globals)
    let made = try session.unlocking(for: "vault restore-version \(name)") { vault in
      try vault.restoreVersion(version, of: name)
    }
    if globals.json {
      try Output.json { object in
        object.add("name", name)
        object.add("version", made)
      }
    } else if Keyboard.isAttended {
      Output.note("version \(version) of \(Printable.quoted(name)) is current again, as version \(made)")
      noteNetwork(session)
    }
    TokenList.noteOlder(name, session)
  }

  /// Shows the attributes with which a network's passphrase is used from now on: the item's present ones, whatever they
  /// were when the version was stored.
  private func noteNetwork(_ session: Session) {
    guard let item = try? session.call({ vault in try vault.show(name) }), item.kind == ItemKind.wifi.rawValue else {
      return
    }
    let attributes = item.attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\(Printable.whole($0.value))" }
    Output.note(
      "versions have no attributes, so it is the passphrase of \(attributes.joined(separator: ", ")) now; "
        + "\(Hint.vault("set NAME --update --keep-value --attr ssid=…")) changes that")
  }
}
