internal import VaultCore
package import VaultModel
internal import VaultStore

/// The searches that programs made while nobody could tell which items there are, each with a path that stands for the
/// first match. Programs destroy data if such a search finds nothing, so it finds this path, which is locked.
///
/// A search is kept sealed to the vault's public key. So a locked vault that hides names has nothing in memory that
/// tells what was searched for. A path has a meaning only for the program that made its search.
final class Placeholders: SecretHolder {
  /// The most bytes of the searches of one program, and of all programs of one holder.
  static let (most, mostOfHolder) = (1 << 20, 4 << 20)
  /// The bytes that are charged for each search in addition to its texts.
  private static let cost = 512

  final class Search {
    let texts: SealedTexts
    /// The collection that is searched; nil for all.
    let collection: CollectionID?
    /// The collection in which its path is.
    fileprivate let place: CollectionID
    let caller: Caller
    /// The program's connection.
    fileprivate weak var program: AnyObject?
    fileprivate let owner: ObjectIdentifier
    fileprivate let holder: Access.Holder
    /// The number in its path.
    fileprivate var number = 0
    /// The number of open prompts that are for the search.
    var prompts = 0
    /// A hash of the search, by which the same search is recognized; nil once names were hidden.
    fileprivate var hash: Int?
    /// The first match, once it was looked for.
    fileprivate(set) var match: KeyringPath??

    init(
      _ texts: SealedTexts, in collection: CollectionID?, at place: CollectionID, hash: Int? = nil, _ caller: Caller,
      _ program: AnyObject, of holder: Access.Holder
    ) {
      (self.texts, self.collection, self.place, self.hash) = (texts, collection, place, hash)
      (self.caller, self.program, self.holder) = (caller, program, holder)
      owner = ObjectIdentifier(program)
    }

    fileprivate var path: KeyringPath { KeyringPath(place, "q\(number)") }
    fileprivate var count: Int { texts.count + cost }

    /// True if the search tells the name of an item, or what was searched for.
    fileprivate var tellsName: Bool { match??.collection == .shared || hash != nil }
  }

  private var searches: [Int: Search] = [:]
  /// The numbers of the searches of each program, the oldest first, and their bytes.
  private var owned: [ObjectIdentifier: Owned] = [:]

  private struct Owned {
    let holder: Access.Holder
    var numbers: [Int] = []
    var count = 0
  }

  /// The number of the last search. Each daemon begins at another number, so that the paths of an earlier daemon, which
  /// programs still have, stand for nothing.
  private var last = Int(RandomBytes.uniform(below: .max)) << 24

  /// The search that an element of a path stands for; nil if another program made it.
  func search(_ element: String, of caller: Caller) -> Search? {
    guard let search = Self.number(element).flatMap({ searches[$0] }),
      search.caller.pid == caller.pid, search.caller.started == caller.started
    else { return nil }
    return search
  }

  private static func number(_ element: String) -> Int? {
    guard element.utf8.first == UInt8(ascii: "q"), let number = Int(element.dropFirst()) else { return nil }
    return "q\(number)" == element && number > 0 ? number : nil
  }

  /// The searches of a program that are still to be made, the oldest first.
  func unmatched(_ owner: ObjectIdentifier) -> [KeyringPath] {
    let own = (owned[owner]?.numbers ?? []).compactMap { searches[$0] }
    return own.filter { $0.match == nil }.map(\.path)
  }

  /// The element of the path of a search that a program has asked for before and that is still to be made. The match
  /// of a search that was made may be out of date: items may have come since.
  func element(ofHash hash: Int, _ owner: ObjectIdentifier) -> String? {
    owned[owner]?.numbers.first { number in
      searches[number].map { $0.hash == hash && $0.match == nil } ?? false
    }.map { "q\($0)" }
  }

  /// Keeps a search for as long as its program is connected, and returns the element of its path.
  func add(_ search: Search) throws(KeyringFault) -> String {
    repeat { last = last == .max ? 1 : last + 1 } while searches[last] != nil
    try add(search, last)
    return "q\(last)"
  }

  /// Keeps a search of an earlier daemon at its old path; false if the path cannot stand for it.
  func add(_ search: Search, at element: String) -> Bool {
    guard let number = Self.number(element), searches[number] == nil else { return false }
    return (try? add(search, number)) != nil
  }

  private func add(_ search: Search, _ number: Int) throws(KeyringFault) {
    while let crowded = crowded(by: search) {
      // A search with an open prompt never gives way. Of the others, those that were made meanwhile go first, and then
      // the oldest.
      func first(_ mayGo: (Search) -> Bool) -> Int? {
        crowded.numbers.first { searches[$0].map { $0.prompts == 0 && mayGo($0) } ?? false }
      }
      guard let old = first({ $0.match != nil }) ?? first({ _ in true }) else {
        throw .limitsExceeded(.tooMuch("too many searches wait for an unlock"))
      }
      remove(old)
    }
    search.number = number
    searches[number] = search
    owned[search.owner, default: Owned(holder: search.holder)].numbers.append(number)
    owned[search.owner]?.count += search.count
  }

  /// The searches of the program that has to give one up before `search` has room: its own program, or the program of
  /// its holder with the most bytes; nil if there is room.
  private func crowded(by search: Search) -> Owned? {
    if let own = owned[search.owner], own.count + search.count > Self.most { return own }
    let all = owned.values.filter { $0.holder == search.holder }
    guard all.reduce(search.count, { $0 + $1.count }) > Self.mostOfHolder else { return nil }
    return all.max { $0.count < $1.count }
  }

  private func remove(_ number: Int) {
    guard let search = searches.removeValue(forKey: number) else { return }
    owned[search.owner]?.numbers.removeAll { $0 == number }
    owned[search.owner]?.count -= search.count
  }

  func forget(_ owner: ObjectIdentifier) {
    for number in owned.removeValue(forKey: owner)?.numbers ?? [] { searches[number] = nil }
  }

  /// Seals the searches that are not sealed.
  func seal(in vault: Vault) { each { try? $0.seal(in: vault) } }

  /// Opens the searches until they are sealed again.
  func unseal(in vault: Vault) { each { $0.unseal(in: vault) } }

  private func each(_ body: (SealedTexts) -> Void) {
    for search in searches.values {
      let count = search.count
      body(search.texts)
      owned[search.owner]?.count += search.count - count
    }
  }

  override func letGo(for lock: Lock) {
    guard lock.reach.contains(.names) else { return }
    for search in searches.values where search.tellsName {
      search.hash = nil
      // The next unlock finds it again.
      if search.match??.collection == .shared { search.match = nil }
    }
  }

  override func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names) && searches.values.contains(where: \.tellsName)
  }
}

// Searches that wait for an unlock.
extension Keyring {
  /// A path that stands for the first match of a search that cannot be made now; see ``hidesItems(in:)``. It is the
  /// same whether there is a match or not.
  ///
  /// - Parameter program: the program's connection, at whose end ``forgetSearches(of:)`` is to be called.
  package func placeholder(
    for attributes: KeyringAttributes, in collection: CollectionID?, _ program: AnyObject, _ caller: Caller
  ) throws(KeyringFault) -> KeyringPath {
    if let collection, !has(collection) { throw .noSuchObject }
    let texts = attributes.entries.flatMap { [$0.key, $0.value] }
    // The hash is keyed with a number of this process.
    var hasher = Hasher()
    hasher.combine(collection)
    for text in texts { hasher.combine(Array(text.utf8)) }
    let (hash, owner) = (hasher.finalize(), ObjectIdentifier(program))
    let place = collection ?? directory.standard
    if let known = placeholders.element(ofHash: hash, owner) { return KeyringPath(place, known) }
    let search = Placeholders.Search(
      try SealedTexts(texts, in: vault), in: collection, at: place, hash: vault.settings.hideNames ? nil : hash, caller,
      program, of: access.holder(of: caller))
    return KeyringPath(place, try placeholders.add(search))
  }

  package func forgetSearches(of program: AnyObject) { placeholders.forget(ObjectIdentifier(program)) }

  /// The searches for whose matches paths stand.
  func searches(at paths: [KeyringPath], of caller: Caller) -> [Placeholders.Search] {
    paths.compactMap { placeholders.search($0.element, of: caller) }
  }

  /// The paths of a program's searches that are still to be made.
  package func unmatched(of program: AnyObject) -> [KeyringPath] { placeholders.unmatched(ObjectIdentifier(program)) }

  func isPlaceholder(_ path: KeyringPath, of caller: Caller) -> Bool {
    placeholders.search(path.element, of: caller) != nil
  }

  /// True if a path stands for a search that is still to be made.
  func isUnmatched(_ path: KeyringPath, of caller: Caller) -> Bool {
    placeholders.search(path.element, of: caller).map { $0.match == nil } ?? false
  }

  /// True if a path stands for a search that was made meanwhile, and found nothing.
  func isWithoutMatch(_ path: KeyringPath, for caller: Caller) -> Bool {
    placeholders.search(path.element, of: caller).map { $0.match == .some(nil) } ?? false
  }

  /// The path of the item for which a path stands; the path itself unless it stands for a search.
  ///
  /// - Throws: ``KeyringFault/noSuchObject`` if the search found nothing; ``KeyringFault/isLocked`` until it is made by
  ///   ``match(_:of:in:then:)``.
  func resolve(_ path: KeyringPath, for caller: Caller) throws(KeyringFault) -> KeyringPath {
    guard let search = placeholders.search(path.element, of: caller) else { return path }
    guard let match = search.match else { throw .isLocked }
    guard let match else { throw .noSuchObject }
    return match
  }

  // MARK: The matches

  /// The searches whose matches are looked for, the next one last.
  private final class Matching {
    let line: Line
    var searches: [Placeholders.Search]
    /// The search that was begun.
    var begun: KeyringSearch?
    let then: () -> Void

    init(_ line: Line, _ searches: [Placeholders.Search], _ then: @escaping () -> Void) {
      (self.line, self.searches, self.then) = (line, searches, then)
    }
  }

  /// Looks, in the turns of a line, for the matches of the searches that paths stand for. The program is told of each
  /// search that was made: ``KeyringEvent/searched(_:program:)``.
  ///
  /// - Parameter then: called at the end, whether all searches could be made or not.
  package func match(
    _ paths: [KeyringPath], of caller: Caller, in line: Line, then: @escaping () -> Void = {}
  ) {
    goOn(Matching(line, searches(at: paths.reversed(), of: caller), then))
  }

  private func goOn(_ matching: Matching) {
    vault.waiting.turns?.wait(matching.line) { [weak self] in
      guard let self else { return }
      guard step(matching) else { return goOn(matching) }
      matching.then()
    }
  }

  /// Makes a part of the searches; true at the end of all.
  private func step(_ matching: Matching) -> Bool {
    let end = vault.clock.monotonic() + Turns.search
    while let search = matching.searches.last {
      if search.match == nil {
        do throws(KeyringFault) {
          guard try look(for: search, matching, until: end) else { return false }
        } catch {
          // A search of a collection that is gone finds nothing. After any other fault, the search is made later: once
          // the vault is unlocked again, or when a prompt for the search looks once more.
          if error == .noSuchObject, !mayMiss(search.caller, in: search.collection) { search.match = .some(nil) }
        }
        if search.match != nil { tell(of: search) }
      }
      matching.begun = nil
      matching.searches.removeLast()
      if vault.clock.monotonic() >= end { break }
    }
    return matching.searches.isEmpty
  }

  /// Makes a part of a search; true at its end.
  private func look(
    for search: Placeholders.Search, _ matching: Matching, until end: Int64
  ) throws(KeyringFault) -> Bool {
    var made = if let begun = matching.begun { begun } else { try begin(search) }
    let isOver = try step(&made, until: end, for: search.caller)
    matching.begun = made
    if isOver { take(made, search) }
    return isOver
  }

  private func tell(of search: Placeholders.Search) {
    if let program = search.program { changed(.searched(search.path, program: program)) }
  }

  private func begin(_ search: Placeholders.Search) throws(KeyringFault) -> KeyringSearch {
    guard !hidesItems(in: search.collection) else { throw .isLocked }
    // A search that nobody can open stays locked, because nobody can say that there is no match.
    guard let texts = try search.texts.open(in: vault), texts.count % 2 == 0 else { throw .isLocked }
    let pairs = stride(from: 0, to: texts.count, by: 2).map { (key: texts[$0], value: texts[$0 + 1]) }
    guard let attributes = try? KeyringAttributes(pairs) else { throw .isLocked }
    return try self.search(attributes, in: search.collection, for: search.caller)
  }

  private func take(_ made: KeyringSearch, _ search: Placeholders.Search) {
    let hits = made.hits
    // A search of all collections lists what is served before what is locked.
    let first = search.collection == nil ? hits.first { !$0.isLocked } ?? hits.first : hits.first
    if first == nil, mayMiss(search.caller, in: search.collection) { return }
    search.match = .some(first?.path)
  }

  /// True if a search may lack items: a check of the store has failed, or the caller may not find the items of a
  /// collection that is searched.
  package func mayMiss(_ caller: Caller, in collection: CollectionID?) -> Bool {
    items.mayBeMissing(for: caller) || lackingFind(in: collection, caller) != nil
  }

  /// The first right to find items that a caller lacks in a collection, or in all collections, with the name that
  /// stands for the items of the collection; nil if the caller lacks none. A search of all collections begins with the
  /// default one. The session is left out, so that a grant for the other collections is enough: no lasting data is
  /// encrypted with secrets of the session.
  private func lackingFind(
    in collection: CollectionID?, _ caller: Caller
  ) -> (right: Right, name: ItemName, permit: Permit)? {
    let searched: [CollectionID] =
      collection.map { [$0] } ?? [directory.standard] + directory.all.filter { $0 != .session }
    return searched.lazy.compactMap { self.lackingRight([.find], in: $0, caller) }.first
  }

  /// The event that a caller has to wait for before its search can find every match; nil if the caller lacks no right,
  /// or if the path stands for no search that is still to be made.
  func lackToFind(at path: KeyringPath, _ caller: Caller, _ said: Said) throws(Refusal) -> Wait? {
    guard let search = placeholders.search(path.element, of: caller), search.match == nil,
      let (right, name, permit) = lackingFind(in: search.collection, caller)
    else { return nil }
    return try items.waitOrAsk(right, name, permit, caller, said)
  }

  // MARK: The next daemon

  /// The search that a path stands for, for the next daemon: sealed bytes, which only the vault's key opens. Nil for
  /// other paths.
  package func sealedSearch(at path: KeyringPath, of caller: Caller) -> KeptSearch? {
    guard let search = placeholders.search(path.element, of: caller), let sealed = search.texts.sealed else {
      return nil
    }
    return KeptSearch(isEverywhere: search.collection == nil, sealed: sealed)
  }

  /// The path of a shared item, which tells its name, for the next daemon: sealed bytes, which only the vault's key
  /// opens. Nil without a store.
  package func seal(path text: String) -> [UInt8]? { (try? SealedTexts([text], in: vault))?.sealed }

  /// Opens a path that an earlier daemon has sealed; nil if the vault's present key does not open it.
  package func openPath(_ sealed: [UInt8]) -> String? { (try? SealedTexts(sealed: sealed).open(in: vault))?.first }

  /// Lets a path stand for a search of an earlier daemon once more; false if it cannot.
  package func takeUp(_ kept: KeptSearch, at path: KeyringPath, _ program: AnyObject, _ caller: Caller) -> Bool {
    let texts = SealedTexts(sealed: kept.sealed)
    let collection = kept.isEverywhere ? nil : path.collection
    let search = Placeholders.Search(
      texts, in: collection, at: path.collection, caller, program, of: access.holder(of: caller))
    return placeholders.add(search, at: path.element)
  }
}

/// A search that waits for an unlock, as the next daemon takes it up.
package struct KeptSearch: Equatable, Sendable {
  /// True if all collections are searched, and not only that of the path.
  package let isEverywhere: Bool
  package let sealed: [UInt8]

  package init(isEverywhere: Bool, sealed: [UInt8]) { (self.isEverywhere, self.sealed) = (isEverywhere, sealed) }
}
