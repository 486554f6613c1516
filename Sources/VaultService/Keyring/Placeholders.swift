internal import VaultCore
package import VaultModel
internal import VaultStore

/// The searches that programs made while nobody could tell which items there are, each with a path that stands for the
/// first match. Programs destroy data if such a search finds nothing, so it finds this path, which is locked.
///
/// A search is kept sealed to the vault's public key. So a locked vault that hides names has nothing in memory that
/// tells what was searched for.
final class Placeholders: SecretHolder {
  /// The most bytes of the searches of one program.
  static let most = 1 << 20

  final class Search {
    let texts: SealedTexts
    /// The collection that is searched; nil for all.
    let collection: CollectionID?
    let caller: Caller
    fileprivate let owner: ObjectIdentifier
    /// The first match, once it was looked for.
    fileprivate var match: KeyringPath??

    init(_ texts: SealedTexts, in collection: CollectionID?, _ caller: Caller, _ owner: ObjectIdentifier) {
      (self.texts, self.collection, self.caller, self.owner) = (texts, collection, caller, owner)
    }

    /// True if the match tells the name of an item.
    fileprivate var tellsName: Bool { match??.collection == .shared }
  }

  private var searches: [Int: Search] = [:]
  /// The number of the last search. Each daemon begins at another one, so that the paths of an earlier daemon, which
  /// programs still have, stand for nothing.
  private var last = Int(RandomBytes.uniform(below: .max)) << 24

  /// The search that an element of a path stands for.
  subscript(element: String) -> Search? { Self.number(element).flatMap { searches[$0] } }

  private static func number(_ element: String) -> Int? {
    guard element.utf8.first == UInt8(ascii: "q"), let number = Int(element.dropFirst()) else { return nil }
    return "q\(number)" == element && number > 0 ? number : nil
  }

  /// Keeps a search for as long as its program is connected, and returns the element of its path.
  func add(_ search: Search) throws(KeyringFault) -> String {
    try checkRoom(for: search)
    repeat { last += 1 } while searches[last] != nil
    searches[last] = search
    return "q\(last)"
  }

  /// Keeps a search of an earlier daemon at its old path; false if the path cannot stand for it.
  func add(_ search: Search, at element: String) -> Bool {
    guard let number = Self.number(element), searches[number] == nil, (try? checkRoom(for: search)) != nil else {
      return false
    }
    searches[number] = search
    return true
  }

  private func checkRoom(for search: Search) throws(KeyringFault) {
    let used = searches.values.lazy.filter { $0.owner == search.owner }.reduce(0) { $0 + $1.texts.count }
    guard used + search.texts.count <= Self.most else {
      throw .limitsExceeded("too many searches wait for an unlock")
    }
  }

  func forget(_ owner: ObjectIdentifier) { searches = searches.filter { $0.value.owner != owner } }

  override func letGo(for lock: Lock) {
    // The next unlock finds them again.
    if lock.reach.contains(.names) { for search in searches.values where search.tellsName { search.match = nil } }
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
    let texts = try SealedTexts(attributes.entries.flatMap { [$0.key, $0.value] }, in: vault)
    let search = Placeholders.Search(texts, in: collection, caller, ObjectIdentifier(program))
    return KeyringPath(collection ?? directory.standard, try placeholders.add(search))
  }

  package func forgetSearches(of program: AnyObject) { placeholders.forget(ObjectIdentifier(program)) }

  func isPlaceholder(_ path: KeyringPath) -> Bool { placeholders[path.element] != nil }

  /// True if a path stands for a search that was made meanwhile, and found nothing.
  func isWithoutMatch(_ path: KeyringPath) -> Bool {
    guard isPlaceholder(path) else { return false }
    do throws(KeyringFault) { _ = try resolve(path) } catch { return error == .noSuchObject }
    return false
  }

  /// The path of the item for which a path stands; the path itself unless it stands for a search.
  ///
  /// - Throws: ``KeyringFault/noSuchObject`` if the search found nothing; ``KeyringFault/isLocked`` while it cannot be
  ///   made.
  func resolve(_ path: KeyringPath) throws(KeyringFault) -> KeyringPath {
    guard let search = placeholders[path.element] else { return path }
    guard let match = try firstMatch(of: search) else { throw .noSuchObject }
    return match
  }

  /// The first match of a search that had to wait: the one that the program would have found first. Nil if there is
  /// none.
  private func firstMatch(of search: Placeholders.Search) throws(KeyringFault) -> KeyringPath? {
    if let match = search.match { return match }
    guard !hidesItems(in: search.collection) else { throw .isLocked }
    guard let texts = try search.texts.open(in: vault), texts.count % 2 == 0 else { return nil }
    let pairs = stride(from: 0, to: texts.count, by: 2).map { (key: texts[$0], value: texts[$0 + 1]) }
    guard let attributes = try? KeyringAttributes(pairs) else { return nil }
    var made = try self.search(attributes, in: search.collection, for: search.caller)
    while try !step(&made, until: .max, for: search.caller) {}
    let match = made.hits.first?.path
    search.match = .some(match)
    return match
  }

  // MARK: The next daemon

  /// The search that a path stands for, for the next daemon: sealed bytes, which only the vault's key opens. Nil for
  /// other paths.
  package func sealedSearch(at path: KeyringPath) -> KeptSearch? {
    placeholders[path.element].map { KeptSearch(isEverywhere: $0.collection == nil, sealed: $0.texts.sealed) }
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
