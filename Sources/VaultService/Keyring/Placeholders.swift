internal import VaultCore
package import VaultModel
internal import VaultStore

/// The searches that programs made while nobody could tell which items there are, each with a path that stands for the
/// first match. Programs destroy data if such a search finds nothing, so it finds this path, which is locked.
///
/// A search is kept sealed to the vault's public key. So a locked vault that hides names has nothing in memory that
/// tells what was searched for. Its path means something to its own program alone.
final class Placeholders: SecretHolder {
  /// The most bytes of the searches of one program.
  static let most = 1 << 20
  /// The bytes that each search counts beside its own.
  private static let cost = 512

  final class Search {
    fileprivate(set) var texts: SealedTexts
    /// The collection that is searched; nil for all.
    let collection: CollectionID?
    let caller: Caller
    fileprivate let owner: ObjectIdentifier
    /// A hash of the search, by which it is known again; nil once names were hidden.
    fileprivate var hash: Int?
    /// The first match, once it was looked for.
    fileprivate(set) var match: KeyringPath??

    init(
      _ texts: SealedTexts, in collection: CollectionID?, hash: Int? = nil, _ caller: Caller, _ owner: ObjectIdentifier
    ) {
      (self.texts, self.collection, self.hash) = (texts, collection, hash)
      (self.caller, self.owner) = (caller, owner)
    }

    fileprivate var count: Int { texts.count + cost }

    /// True if the search tells the name of an item, or what was searched for.
    fileprivate var tellsName: Bool { match??.collection == .shared || hash != nil }
  }

  private var searches: [Int: Search] = [:]
  /// The numbers of the searches of each program, the oldest first, and their bytes.
  private var owned: [ObjectIdentifier: (numbers: [Int], count: Int)] = [:]
  /// The number of the last search. Each daemon begins at another one, so that the paths of an earlier daemon, which
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

  /// The element of the path of a search that a program has made before.
  func element(ofHash hash: Int, _ owner: ObjectIdentifier) -> String? {
    owned[owner]?.numbers.first { searches[$0]?.hash == hash }.map { "q\($0)" }
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
    // Searches that were made meanwhile give way, the oldest first.
    while let own = owned[search.owner], own.count + search.count > Self.most {
      guard let old = own.numbers.first(where: { searches[$0]?.match != nil }) else {
        throw .limitsExceeded("too many searches wait for an unlock")
      }
      remove(old)
    }
    searches[number] = search
    var own = owned[search.owner] ?? ([], 0)
    own.numbers.append(number)
    own.count += search.count
    owned[search.owner] = own
  }

  private func remove(_ number: Int) {
    guard let search = searches.removeValue(forKey: number), var own = owned[search.owner] else { return }
    own.numbers.removeAll { $0 == number }
    own.count -= search.count
    owned[search.owner] = own
  }

  func forget(_ owner: ObjectIdentifier) {
    for number in owned.removeValue(forKey: owner)?.numbers ?? [] { searches[number] = nil }
  }

  /// Seals the searches that were made while there was no store.
  func seal(in vault: Vault) {
    for search in searches.values where search.texts.sealed == nil {
      let count = search.count
      try? search.texts.seal(in: vault)
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
      try SealedTexts(texts, in: vault), in: collection, hash: vault.settings.hideNames ? nil : hash, caller, owner)
    return KeyringPath(place, try placeholders.add(search))
  }

  package func forgetSearches(of program: AnyObject) { placeholders.forget(ObjectIdentifier(program)) }

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
  ///   ``match(_:of:in:found:then:)``.
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
    var searches: [(path: KeyringPath, search: Placeholders.Search)]
    /// The search that was begun.
    var begun: KeyringSearch?
    let found: (KeyringPath) -> Void
    let then: () -> Void

    init(
      _ line: Line, _ searches: [(path: KeyringPath, search: Placeholders.Search)],
      _ found: @escaping (KeyringPath) -> Void, _ then: @escaping () -> Void
    ) {
      (self.line, self.searches, self.found, self.then) = (line, searches, found, then)
    }
  }

  /// Looks, in the turns of a line, for the matches of the searches that paths stand for.
  ///
  /// - Parameters:
  ///   - found: called with each path whose search was made.
  ///   - then: called at the end, also if a lock comes before that.
  package func match(
    _ paths: [KeyringPath], of caller: Caller, in line: Line, found: @escaping (KeyringPath) -> Void = { _ in },
    then: @escaping () -> Void = {}
  ) {
    let searches = paths.reversed().compactMap { path in
      placeholders.search(path.element, of: caller).map { (path: path, search: $0) }
    }
    goOn(Matching(line, searches, found, then))
  }

  private func goOn(_ matching: Matching) {
    vault.waiting.turns?.wait(matching.line) { [weak self] in
      guard let self else { return }
      do throws(KeyringFault) {
        guard try step(matching) else { return goOn(matching) }
      } catch {
        // Somebody looks again after the next unlock.
      }
      matching.then()
    }
  }

  /// Makes a part of the searches; true at the end of all.
  private func step(_ matching: Matching) throws(KeyringFault) -> Bool {
    let end = vault.clock.monotonic() + Turns.search
    while let (path, search) = matching.searches.last {
      if search.match == nil {
        var made = if let begun = matching.begun { begun } else { try begin(search) }
        let isOver = try step(&made, until: end, for: search.caller)
        matching.begun = made
        guard isOver else { return false }
        take(made, search)
        matching.begun = nil
      }
      matching.searches.removeLast()
      matching.found(path)
      if vault.clock.monotonic() >= end { break }
    }
    return matching.searches.isEmpty
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
    if first == nil, mayMiss(search.caller) { return }
    search.match = .some(first?.path)
  }

  /// True if a search may lack items, because a check of the store has failed.
  package func mayMiss(_ caller: Caller) -> Bool { items.mayBeMissing(for: caller) }

  // MARK: The next daemon

  /// The search that a path stands for, for the next daemon: sealed bytes, which only the vault's key opens. Nil for
  /// other paths.
  package func sealedSearch(at path: KeyringPath, of caller: Caller) -> KeptSearch? {
    guard let search = placeholders.search(path.element, of: caller), let sealed = search.texts.sealed else {
      return nil
    }
    return KeptSearch(isEverywhere: search.collection == nil, sealed: sealed)
  }

  /// Lets a path stand for a search of an earlier daemon once more; false if it cannot.
  package func takeUp(_ kept: KeptSearch, at path: KeyringPath, _ program: AnyObject, _ caller: Caller) -> Bool {
    let texts = SealedTexts(sealed: kept.sealed)
    let collection = kept.isEverywhere ? nil : path.collection
    let search = Placeholders.Search(texts, in: collection, caller, ObjectIdentifier(program))
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
