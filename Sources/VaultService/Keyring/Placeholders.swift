internal import VaultCore
package import VaultModel
internal import VaultStore

/// The searches that programs made while nobody could tell which items there are, each with a path that stands for the
/// first match. Programs destroy data if such a search finds nothing, so it finds this path, which is locked.
///
/// A search is kept sealed to the vault's public key. So a locked vault that hides names has nothing in memory that
/// tells what was searched for.
final class Placeholders {
  /// The most bytes of the searches of one program.
  static let most = 1 << 20

  final class Search {
    let texts: SealedTexts
    let caller: Caller
    fileprivate let owner: ObjectIdentifier
    /// The first match, once it was looked for.
    fileprivate var match: KeyringPath??

    init(_ texts: SealedTexts, _ caller: Caller, _ owner: ObjectIdentifier) {
      (self.texts, self.caller, self.owner) = (texts, caller, owner)
    }
  }

  private let vault: Vault
  private var searches: [Int: Search] = [:]
  /// The number of the last search. Each daemon begins at another one, so that the paths of an earlier daemon, which
  /// programs still have, stand for nothing.
  private var last = Int(RandomBytes.uniform(below: .max)) << 24

  init(_ vault: Vault) { self.vault = vault }

  /// The search that an element of a path stands for.
  subscript(element: String) -> Search? {
    guard element.utf8.first == UInt8(ascii: "q"), let number = Int(element.dropFirst()) else { return nil }
    return searches[number]
  }

  /// Keeps a search for as long as its program is connected, and returns the element of its path.
  func add(_ texts: [String], _ caller: Caller, _ owner: ObjectIdentifier) throws(KeyringFault) -> String {
    let used = searches.values.lazy.filter { $0.owner == owner }.reduce(0) { $0 + $1.texts.count }
    guard used + SealedTexts.count(texts) <= Self.most else {
      throw .limitsExceeded("too many searches wait for an unlock")
    }
    let sealed = try SealedTexts(texts, in: vault)
    last += 1
    searches[last] = Search(sealed, caller, owner)
    return "q\(last)"
  }

  func forget(_ owner: ObjectIdentifier) { searches = searches.filter { $0.value.owner != owner } }
}

// Searches that wait for an unlock.
extension Keyring {
  /// A path that stands for the first match of a search that cannot be made now; see ``hidesItems``. It is the same
  /// whether there is a match or not.
  ///
  /// - Parameter program: the program's connection, at whose end ``forgetSearches(of:)`` is to be called.
  package func placeholder(
    for attributes: KeyringAttributes, in collection: CollectionID?, _ program: AnyObject, _ caller: Caller
  ) throws(KeyringFault) -> KeyringPath {
    if let collection, !has(collection) { throw .noSuchObject }
    let texts = [collection?.element ?? ""] + attributes.entries.flatMap { [$0.key, $0.value] }
    let element = try placeholders.add(texts, caller, ObjectIdentifier(program))
    return KeyringPath(collection ?? directory.standard, element)
  }

  package func forgetSearches(of program: AnyObject) { placeholders.forget(ObjectIdentifier(program)) }

  func isPlaceholder(_ path: KeyringPath) -> Bool { placeholders[path.element] != nil }

  /// True if a path stands for a search that was made meanwhile, and found nothing.
  func isWithoutMatch(_ path: KeyringPath) -> Bool {
    guard !hidesItems, let search = placeholders[path.element] else { return false }
    do throws(KeyringFault) { return try firstMatch(of: search) == nil } catch { return false }
  }

  /// The first match of a search that had to wait: the one that the program would have found first. Nil if there is
  /// none.
  func firstMatch(of search: Placeholders.Search) throws(KeyringFault) -> KeyringPath? {
    if let match = search.match { return match }
    let texts = try search.texts.open(in: vault) ?? []
    guard let first = texts.first, texts.count % 2 == 1 else { return nil }
    let pairs = stride(from: 1, to: texts.count, by: 2).map { (key: texts[$0], value: texts[$0 + 1]) }
    guard let attributes = try? KeyringAttributes(pairs) else { return nil }
    var made = try self.search(attributes, in: CollectionID(element: first), for: search.caller)
    while try !step(&made, until: .max, for: search.caller) {}
    let match = made.hits.first { $0.path.collection != .session }?.path
    search.match = .some(match)
    return match
  }
}
