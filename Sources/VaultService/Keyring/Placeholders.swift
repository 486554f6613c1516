internal import VaultBytes
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
    let sealed: [UInt8]
    fileprivate let owner: ObjectIdentifier
    /// The first match, once it was looked for.
    fileprivate var match: KeyringPath??

    init(_ sealed: [UInt8], _ owner: ObjectIdentifier) { (self.sealed, self.owner) = (sealed, owner) }
  }

  private let vault: Vault
  private var searches: [Int: Search] = [:]
  private var last = 0

  init(_ vault: Vault) { self.vault = vault }

  /// The search that an element of a path stands for.
  subscript(element: String) -> Search? {
    guard element.utf8.first == UInt8(ascii: "q"), let number = Int(element.dropFirst()) else { return nil }
    return searches[number]
  }

  /// Keeps a search for as long as its program is connected, and returns the element of its path.
  func add(_ text: [String], _ owner: ObjectIdentifier) throws(KeyringFault) -> String {
    let plain = Self.encode(text)
    let used = searches.values.lazy.filter { $0.owner == owner }.reduce(0) { $0 + $1.sealed.count }
    guard used + plain.count + SealedBox.overhead <= Self.most else {
      throw .limitsExceeded("too many searches wait for an unlock")
    }
    guard let keychain = vault.openKeychain else { throw .isLocked }
    do throws(VaultError) {
      let sealed = try plain.withBytes { (bytes: RawSpan) throws(VaultError) in try keychain.seal(bytes) }
      last += 1
      searches[last] = Search(sealed, owner)
    } catch {
      throw KeyringFault(vault.refusal(error, ""))
    }
    return "q\(last)"
  }

  func forget(_ owner: ObjectIdentifier) { searches = searches.filter { $0.value.owner != owner } }

  /// Opens a search; nil if it was sealed to another key.
  func open(_ search: Search) throws(KeyringFault) -> [String]? {
    guard let keychain = vault.openKeychain else { throw .isLocked }
    let plain: SecureBytes?
    do throws(VaultError) { plain = try keychain.open(sealed: search.sealed) } catch {
      throw KeyringFault(vault.refusal(error, ""))
    }
    switch consume plain {
    case .some(let plain): return plain.withBytes { Self.decode($0) }
    case .none: return nil
    }
  }

  // MARK: The encoding

  /// Writes texts, each with its size in four bytes before it.
  private static func encode(_ texts: [String]) -> SecureBytes {
    SecureBytes(count: texts.reduce(0) { $0 + 4 + $1.utf8.count }) { out in
      var place = 0
      for text in texts {
        let count = UInt32(text.utf8.count)
        for shift in 0..<4 { out.set(UInt8(truncatingIfNeeded: count >> (8 * shift)), at: place + shift) }
        out.copy(unsafe text.utf8.span.bytes, at: place + 4)  // UTF-8 has no padding.
        place += 4 + text.utf8.count
      }
    }
  }

  private static func decode(_ bytes: RawSpan) -> [String]? {
    var texts: [String] = []
    var place = 0
    while place < bytes.byteCount {
      guard bytes.byteCount - place >= 4 else { return nil }
      let count = (0..<4).reduce(0) { $0 | Int(bytes.byte(place + $1)) << (8 * $1) }
      guard count <= bytes.byteCount - place - 4 else { return nil }
      let text = bytes.extracting(place + 4..<place + 4 + count)
      texts.append(String(decoding: (0..<count).map { text.byte($0) }, as: UTF8.self))
      place += 4 + count
    }
    return texts
  }
}

// Searches that wait for an unlock.
extension Keyring {
  /// A path that stands for the first match of a search that cannot be made now; see ``hidesItems``. It is the same
  /// whether there is a match or not.
  ///
  /// - Parameter program: the program's connection, at whose end ``forgetSearches(of:)`` is to be called.
  package func placeholder(
    for attributes: KeyringAttributes, in collection: CollectionID?, _ program: AnyObject
  ) throws(KeyringFault) -> KeyringPath {
    if let collection, !has(collection) { throw .noSuchObject }
    let texts = [collection?.element ?? ""] + attributes.entries.flatMap { [$0.key, $0.value] }
    let element = try placeholders.add(texts, ObjectIdentifier(program))
    return KeyringPath(collection ?? directory.standard, element)
  }

  package func forgetSearches(of program: AnyObject) { placeholders.forget(ObjectIdentifier(program)) }

  func isPlaceholder(_ path: KeyringPath) -> Bool { placeholders[path.element] != nil }

  /// True if a path stands for a search that was made meanwhile, and found nothing.
  func isWithoutMatch(_ path: KeyringPath) -> Bool {
    guard !hidesItems, let search = placeholders[path.element] else { return false }
    do throws(KeyringFault) { return try firstMatch(of: search) == nil } catch { return false }
  }

  /// The first match of a search that had to wait; nil if there is none.
  func firstMatch(of search: Placeholders.Search) throws(KeyringFault) -> KeyringPath? {
    if let match = search.match { return match }
    let texts = try placeholders.open(search) ?? []
    guard let first = texts.first, texts.count % 2 == 1, let keychain = vault.openKeychain else { return nil }
    let pairs = stride(from: 1, to: texts.count, by: 2).map { (key: texts[$0], value: texts[$0 + 1]) }
    guard let attributes = try? KeyringAttributes(pairs) else { return nil }
    let folder = CollectionID(element: first)?.folder ?? CollectionID.root
    let query = Query(keyring: attributes, within: folder)
    var best: ItemInfo?
    var place: Int64?
    repeat {
      let found: (items: [ItemInfo], next: Int64?)
      do throws(VaultError) {
        found = try keychain.find(query, in: .folder(folder), limit: 256, after: place, now: vault.clock.wall())
      } catch {
        throw KeyringFault(vault.refusal(error, ""))
      }
      for item in found.items where CollectionID(of: item.name).map(has) == true {
        if item.keyring?.order ?? .max < best?.keyring?.order ?? .max { best = item }
      }
      place = found.next
    } while place != nil
    let match = best.flatMap { KeyringPath($0, isShared: false) }
    search.match = .some(match)
    return match
  }
}
