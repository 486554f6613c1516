package import VaultModel
internal import VaultStore

/// The limit of one call that changes many items: it is one transaction, and others wait for the end of it.
///
/// One item alone is never too much: what it holds is bounded, and all of them together may be as much.
package struct CallWeight {
  /// The most items.
  package static let maximumItems = 128
  /// The most folders and attributes of all of them, each of which has records of its own.
  package static let maximumTags = 1024
  /// The most bytes of values that are there already, which are deleted, or sealed anew: as many as one item has.
  package static let maximumBytes = Keychain.keptBytes + Keychain.maximumValue

  private var items = 0
  private var tags = 0
  private var bytes = 0

  /// Counts an item that is made, or what an item is given.
  package mutating func add(_ name: ItemName, _ attributes: [String: String]?) {
    items += 1
    tags += name.depth + (attributes?.count ?? 0)
  }

  /// Counts what an item has that is deleted, or changed by `change`.
  package mutating func add(old item: ItemInfo, _ change: ItemChange? = nil) {
    tags += item.name.depth + item.attributes.count
    bytes += change.map { Keychain.weight(of: $0, on: item) } ?? item.versions.reduce(0) { $0 + $1.size }
  }

  /// Throws when there are more items than that in one call, before anything is looked at.
  package static func check(count: Int) throws(Refusal) {
    if count > maximumItems {
      throw .tooMuch("one call has up to \(maximumItems) items, and this has \(count)")
    }
  }

  /// Throws when it is more than one call may change.
  package func check() throws(Refusal) {
    guard items > 1 else { return }
    if tags > Self.maximumTags {
      throw .tooMuch(
        "the items of one call have up to \(Self.maximumTags) folders and attributes, and these have \(tags)")
    }
    if bytes > Self.maximumBytes {
      throw .tooMuch(
        "one call deletes or seals anew up to \(Self.maximumBytes >> 20) MiB of values that are there")
    }
  }
}
