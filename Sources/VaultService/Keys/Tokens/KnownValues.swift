internal import VaultCore
internal import VaultModel
internal import VaultSigning
internal import VaultStore

/// The results that take long to compute from items' values, and are computed once for each value: the lists of revoked
/// tokens, and the public halves of keys that were stored without them.
///
/// A value is identified by the digest of its record, which no other value ever has. A lock wipes all results.
package final class KnownValues: SecretHolder {
  /// A list of revoked tokens, as it was read.
  struct List {
    /// The list, or the reason why the value is not a list.
    let read: Result<RevocationList, RevocationProblem>
    /// The latest time up to which all tokens of a subject are revoked, in Unix seconds.
    let latest: Int64
    /// The size of the list's text in bytes.
    let bytes: Int

    init(_ read: Result<RevocationList, RevocationProblem>, bytes: Int) {
      self.read = read
      self.bytes = bytes
      latest = (try? read.get())?.latestRevocation ?? .min
    }
  }

  /// The limits of what is remembered: bytes of texts, lists, and keys.
  private static let (mostBytes, mostLists, mostKeys) = (4 << 20, 256, 1024)

  private var lists: [Digest: List] = [:]
  /// The digests of the lists in the order in which they were read, and the bytes of their texts.
  private var order: [Digest] = []
  private var bytes = 0
  private var keys: [Digest: PublicKey] = [:]
  /// The digests of lists by the hashes of their names, nil for a list that does not exist, as of that generation of
  /// the store. The names themselves must not stay in memory.
  private var found: (generation: UInt64, digests: [Int: Digest?]) = (0, [:])
  /// The number of lists that were read, and of public halves that were computed.
  private(set) var made = 0

  init(_ vault: Vault) { super.init(in: vault.holders) }

  /// The list that is the item of this name; nil if there is none.
  ///
  /// - Throws: ``VaultError/locked``, also if the list's value cannot be read now.
  func list(_ name: ItemName, _ keychain: Keychain, _ now: Int64) throws(VaultError) -> List? {
    guard let digest = try digest(name, keychain) else { return nil }
    if let known = lists[digest] { return known }
    let list: List = try keychain.withValue(of: name, now: now, evenExpired: true) { _, _, value in
      do throws(RevocationProblem) {
        return List(.success(try RevocationList(parsing: value)), bytes: value.byteCount)
      } catch { return List(.failure(error), bytes: value.byteCount) }
    }
    made += 1
    remember(list, digest)
    return list
  }

  /// Remembers a list that was stored as the item of this name.
  func stored(_ list: RevocationList, bytes: Int, as name: ItemName, _ keychain: Keychain) {
    guard let digest = try? digest(name, keychain) else { return }
    remember(List(.success(list), bytes: bytes), digest)
  }

  private func digest(_ name: ItemName, _ keychain: Keychain) throws(VaultError) -> Digest? {
    if found.generation != keychain.generation { found = (keychain.generation, [:]) }
    if let known = found.digests[name.hashValue] { return known }
    var digest: Digest?
    do throws(VaultError) { digest = try keychain.digest(ofValue: name) } catch .noSuchItem {}
    if found.digests.count >= Self.mostLists { found.digests = [:] }
    found.digests[name.hashValue] = .some(digest)
    return digest
  }

  private func remember(_ list: List, _ digest: Digest) {
    guard lists.updateValue(list, forKey: digest) == nil else { return }
    order.append(digest)
    bytes += list.bytes
    while bytes > Self.mostBytes || order.count > Self.mostLists, order.count > 1 {
      bytes -= lists.removeValue(forKey: order.removeFirst())?.bytes ?? 0
    }
  }

  /// The public half of the key whose record has that digest, if it is known.
  func key(_ digest: Digest) -> PublicKey? { keys[digest] }

  /// Remembers a public half that was computed from a private key.
  func computed(_ key: PublicKey, of digest: Digest) {
    made += 1
    if keys.count >= Self.mostKeys { keys = [:] }
    keys[digest] = key
  }

  // MARK: A lock

  public override func letGo(for lock: Lock) {
    guard outlives(lock) else { return }
    (lists, order, bytes, keys) = ([:], [], 0, [:])
    found = (0, [:])
  }

  public override func outlives(_ lock: Lock) -> Bool {
    lock.isEffective && !(lists.isEmpty && keys.isEmpty && found.digests.isEmpty)
  }
}
