internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List items by name.",
    discussion: "One name on each line; on a terminal a tree, or with --flat a table of whole names.",
    aliases: ["ls"])

  @Argument(
    help: ArgumentHelp("List only items in this folder.", valueName: "folder"), completion: Completes.folder.kind)
  var folder: String?

  @Flag(help: "Show whole names on a terminal, too, instead of a tree.")
  var flat = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "List only items that nobody has read or used for this long, such as 90d, or since a date.", valueName: "time"),
    transform: Times.past)
  var unused: Int64?

  @Flag(help: "List only items that expire within 30 days or have expired, the soonest first.")
  var expiring = false

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    let query = [try query(), expiring ? "expires<30d" : nil].compactMap { $0 }.joined(separator: " ")
    // An alarm takes silence for good news, so this list is never incomplete.
    if expiring { try session.needAllNames() }
    var listing = Listing(
      query: query.isEmpty ? nil : query, whenEmpty: { $0.wayToAsk ?? $0.mayNotSee ?? whenEmpty($0) },
      isTree: !flat && !expiring)
    listing.isByExpiry = expiring
    listing.instead = itemInstead
    let uses = try unused.map { try ItemUses(since: $0, session) }
    if let uses {
      var isAnyOld = false
      listing.gaps = uses.gaps
      listing.isShown = { item in
        isAnyOld = isAnyOld || uses.isOld(item)
        return uses.isUnused(item)
      }
      listing.whenEmpty = { session in
        session.wayToAsk ?? session.mayNotSee
          ?? (!isThere(session)
            ? whenEmpty(session)
            : isAnyOld ? "every item that was there by then was read or used since" : "no item is as old as that")
      }
    }
    try listing.run(session, json: globals.json)
    uses?.note()
  }

  /// Returns the failure for a folder that has no items and is itself an item; nil if it is not.
  private func itemInstead(_ session: Session) -> Failure? {
    guard let folder, !folder.hasSuffix("/"), (try? ItemName(folder)) != nil,
      let item = try? session.call({ vault in try vault.find("name=\(Predicates.quote(folder))", limit: 1) }),
      let content = try? session.call({ vault in
        try vault.find("name~\(Predicates.quote(folder + "/**"))", limit: 1)
      }), !item.isEmpty, content.isEmpty
    else { return nil }
    return Failure(
      .missing, "\(Printable.quoted(folder)) is an item, not a folder", "\(Hint.vault("show")) shows it")
  }

  /// Returns true if there may be items before this command's options leave some out.
  private func isThere(_ session: Session) -> Bool {
    let query = (try? query()) ?? nil
    return (try? session.call({ vault in try vault.find(query, limit: 1) }))?.isEmpty != true
  }

  private func whenEmpty(_ session: Session) -> String {
    if isThere(session), expiring { return "nothing expires within 30 days" }
    guard let folder, folder != "/" else { return "there are no items yet; store one with \(Hint.vault("set"))" }
    let items = (try? session.call { vault in try vault.find(nil) }) ?? []
    var folders: Set<String> = []
    for item in items {
      let parts = item.name.split(separator: "/", omittingEmptySubsequences: false)
      for count in parts.indices.dropFirst() { folders.insert(parts.prefix(count).joined(separator: "/")) }
    }
    var typed = folder
    while typed.hasSuffix("/") { typed.removeLast() }
    let near = Suggestion.text(Nearest.names(to: typed, among: folders.sorted()), insteadOf: typed)
    return "there is nothing in \(Printable.quoted(folder)); \(near ?? "see \(Hint.vault("list"))")"
  }

  private func query() throws -> String? {
    guard var folder, folder != "/" else { return nil }
    while folder.hasSuffix("/") { folder.removeLast() }
    do throws(NameError) { _ = try ItemName(folder) } catch {
      throw Failure(
        .invalid, "\(Printable.quoted(folder)) is not a valid folder: \(error.reason)", "see \(Hint.vault("list"))")
    }
    if folder.contains(where: { "*?".contains($0) }) {
      throw Failure(
        .invalid, "\(Printable.quoted(folder)) is a pattern, not a folder", "use \(Hint.vault("find 'name~…'"))")
    }
    return "name~\(Predicates.quote(folder + "/**"))"
  }
}

struct FindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Find the items for which all given predicates hold.",
    discussion: """
      A predicate is key=value, key!=value, key~glob (* within a folder, ** across folders, ? for one character), \
      key<value or key>value. The keys are name, kind, accessible, require, expires, created, modified, version, size \
      and every attribute. Times are durations (expires<7d: within 7 days; created<7d: less than 7 days ago) or dates. \
      Put values with spaces between double quotes. A word alone is searched for in names, and in the labels of items \
      that programs keep through the Secret Service; keyring:label and keyring:KEY are the label and the attributes \
      that such a program gave.
      """,
    aliases: ["search"])

  @Argument(
    help: ArgumentHelp("The predicates, all of which must hold.", valueName: "predicates"),
    completion: Completes.predicate.kind)
  var predicates: [String]

  @Option(parsing: .unconditional, help: ArgumentHelp("Stop after this many items.", valueName: "count"))
  var limit: Int?

  @OptionGroup var globals: Globals

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit counts from 1") }
    // An empty word, as of a variable that is not set, would hold for all items.
    if predicates.contains(where: { $0.allSatisfy(\.isWhitespace) }) {
      throw ValidationError("a predicate is empty, and every item would match; see \(Hint.vault("list"))")
    }
  }

  func run() throws {
    let query = predicates.joined(separator: " ")
    let listing = Listing(query: query, whenEmpty: { $0.wayToAsk ?? NothingFound.text(query, $0) }, limit: limit)
    do throws(Failure) {
      let session = try Session(globals)
      // An alarm takes silence for good news, so a search by expiry is never incomplete.
      if Self.examinesExpiry(query) { try session.needAllNames() }
      try listing.run(session, json: globals.json)
    } catch {
      throw error.exit == .usage ? placed(error, query) : error
    }
  }

  /// Returns false also for a query that cannot be read, which the daemon refuses.
  private static func examinesExpiry(_ query: String) -> Bool {
    // The accounts in the query do not matter here.
    (try? Query(parsing: query, Query.Names(user: { _ in 0 }, group: { _ in 0 })))?.examinesExpiry ?? false
  }

  /// Says which of several arguments has the mistake: nobody has typed the query that they form together.
  private func placed(_ failure: Failure, _ query: String) -> Failure {
    guard predicates.count > 1,
      case .failure(let error) = Result(catching: { () throws(QueryError) in
        try Query(parsing: query)
      })
    else { return failure }
    var start = 0
    for predicate in predicates {
      let end = start + predicate.utf8.count
      if error.position <= end {
        return Failure(
          .usage, "invalid query at byte \(error.position - start) of \(Printable.quoted(predicate)): \(error.reason)",
          failure.advice)
      }
      start = end + 1
    }
    return failure
  }
}
