package import VaultModel
internal import VaultStore

/// The weight of one call that changes many items, and the check against the limits in ``CallLimits``.
///
/// A call for one item is never too much, because what one item holds is bounded. The values of all items of a call
/// together may have as many bytes as those of one item.
package struct CallWeight {
  /// The most bytes of existing values that one call deletes or seals again: as many as one item can have.
  package static let maximumBytes = Keychain.keptBytes + Keychain.maximumValue

  private var items = 0
  private var tags = 0
  private var text = 0
  /// The bytes of values that are deleted or sealed again.
  private(set) var bytes = 0
  private var computing = 0

  /// Counts an item that is made, or the name and attributes that an item is given.
  package mutating func add(_ name: ItemName, _ attributes: [String: String]?) {
    items += 1
    count(name, attributes)
  }

  /// Counts the attributes and values of an item that is deleted, or changed by `change`.
  package mutating func add(old item: ItemInfo, _ change: ItemChange? = nil) {
    count(item.name, item.attributes)
    bytes += change.map { Keychain.weight(of: $0, on: item) } ?? item.versions.reduce(0) { $0 + $1.size }
  }

  /// Counts an item that is deleted; nil if there is none.
  package mutating func add(deleted item: ItemInfo?) {
    items += 1
    if let item { add(old: item) }
  }

  /// Counts the time, in microseconds, for making or checking a value; see ``KeyCost``.
  package mutating func add(computing time: Int) { computing += time }

  private mutating func count(_ name: ItemName, _ attributes: [String: String]?) {
    tags += CallLimits.tags(name: name.text, attributes)
    text += CallLimits.text(name: name.text, attributes)
  }

  /// Checks the number of items in a call, before anything is looked up.
  ///
  /// - Throws: the refusal of a call with more items than the limit.
  package static func check(count: Int) throws(Refusal) {
    if count > CallLimits.items {
      throw .tooMuch("one call may have at most \(CallLimits.items) items, and this has \(count)")
    }
  }

  /// Checks the weight of a call.
  ///
  /// - Throws: the refusal of a call that changes more than one call may.
  package func check() throws(Refusal) {
    guard items > 1 else { return }
    if tags > CallLimits.tags {
      throw .tooMuch(
        "the items of one call may have at most \(CallLimits.tags) folders and attributes, and these have \(tags)")
    }
    if text > CallLimits.text {
      throw .tooMuch(
        "the names and attributes of one call may have at most \(CallLimits.text >> 10) KiB, and these have "
          + "\(text) bytes")
    }
    if bytes > Self.maximumBytes {
      throw .tooMuch(
        "one call may delete or reseal at most \(Self.maximumBytes >> 20) MiB of existing values")
    }
    if computing > KeyCost.turn {
      throw .tooMuch(
        "the values of one call may take at most \(KeyCost.turn / 1000) ms to be made and checked, and these take "
          + "about \(computing / 1000) ms")
    }
  }
}
