internal import VaultCore
package import VaultModel
internal import VaultSigning
internal import VaultStore

/// The items that are SSH keys, as an ssh-agent lists them. The list is read from the store once, and kept until an
/// item or the state of the vault changes.
package final class SSHKeys: SecretHolder {
  /// An SSH key that is an item's value.
  package struct Key: Sendable {
    package let name: ItemName
    /// The public half in SSH's form (RFC 4253 section 6.6).
    package let blob: [UInt8]
    fileprivate let accessible: AccessClass
    /// The first second in which the key is no longer used, in Unix seconds; nil if it does not expire.
    fileprivate let expires: Int64?
  }

  private let items: Items
  private var known: [Key]?
  /// The answer with all keys that have not expired, as a door has made it, and their number; nil if none is kept. As
  /// time goes on, keys only expire, so the number stands for the keys.
  private var answer: (count: Int, made: Answer)?

  package init(_ items: Items) {
    self.items = items
    super.init(in: items.vault.holders)
  }

  /// Handles an event of the vault.
  package func happened(_ event: VaultEvent) {
    switch event {
    case .item, .state: forget()
    case .integrityFailed, .request: break
    }
  }

  /// The keys that a caller may use.
  package struct Listing {
    package let keys: [Key]
    /// False if there may be other keys, whose names cannot be read now.
    package let isWhole: Bool
    fileprivate let isAll: Bool
  }

  /// The keys that a caller may use, in the order in which they were first stored. A key that has expired is left out:
  /// a server would accept it, and the login would then fail.
  package func keys(for caller: Caller) throws(Refusal) -> Listing {
    let keychain = try items.vault.keychain()
    let all: [Key]
    if let known { all = known } else { all = try read(keychain) }
    known = all
    let access = items.access
    let isWhole = keychain.knowsAllNames
    let now = items.vault.clock.wall()
    let good = all.filter { key in
      key.expires.map { keychain.newestTime(of: key.accessible, at: now) < $0 } ?? true
    }
    if access.isAdministrator(caller) { return Listing(keys: good, isWhole: isWhole, isAll: true) }
    let keys = good.filter { access.permit(caller, on: $0.name)[$0.accessible].contains(.use) }
    return Listing(keys: keys, isWhole: isWhole, isAll: false)
  }

  /// A door's answer with keys.
  package struct Answer {
    package let bytes: [UInt8]
    /// The number of the keys in it; a list does not hold any number of them.
    package let count: Int

    package init(_ bytes: [UInt8], count: Int) { (self.bytes, self.count) = (bytes, count) }
  }

  /// The answer that `make` makes of these keys. An answer with all keys is made once, and kept until they change, so
  /// `make` must depend on nothing else.
  package func answer(_ listing: Listing, _ make: ([Key]) -> Answer) -> Answer {
    if listing.isAll, let answer, answer.count == listing.keys.count { return answer.made }
    let made = make(listing.keys)
    if listing.isAll { answer = (listing.keys.count, made) }
    return made
  }

  private func read(_ keychain: Keychain) throws(Refusal) -> [Key] {
    guard let query = try? Query(parsing: "kind=\(ItemKind.sshKey.rawValue)") else { return [] }
    let now = items.vault.clock.wall()
    var keys: [Key] = []
    var place: Int64?
    repeat {
      let page: (items: [ItemInfo], next: Int64?)
      do throws(VaultError) { page = try keychain.find(query, limit: 1000, after: place, now: now) } catch {
        if error == .locked { break }
        throw items.vault.refusal(error, "")
      }
      for item in page.items {
        // An earlier version stored keys without their public half. In that case the public half is read from the key.
        guard let blob = item.publicKey ?? (try? items.publicKey(of: item).sshBlob) else { continue }
        keys.append(Key(name: item.name, blob: blob, accessible: item.policy.accessible, expires: item.expires))
      }
      place = page.next
    } while place != nil
    return keys
  }

  private func forget() { (known, answer) = (nil, nil) }

  // MARK: Locks

  override package func letGo(for lock: Lock) { forget() }

  override package func outlives(_ lock: Lock) -> Bool { known != nil || answer != nil }
}
