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
  private var text = 0
  /// The time for storing and deleting, in microseconds; see ``CallLimits/time``.
  private var time = 0
  /// The bytes of values that are deleted or sealed again.
  private(set) var bytes = 0
  private var computing = 0

  /// Counts an item that is made, or the name, attributes and facts for a keyring that an item is given. A change that
  /// allows an existing item counts as a change of an existing item, because an earlier change of the same call may
  /// have made the item.
  package mutating func add(_ change: ItemChange) {
    items += 1
    time += CallLimits.timeOfItem + (change.update ? CallLimits.timeOfExisting : 0)
    count(change.name, change.attributes, change.keyring)
  }

  /// Counts the attributes and values of an item that a change finds.
  package mutating func add(old item: ItemInfo, _ change: ItemChange) {
    count(item.name, item.attributes, item.keyring)
    let resealed = Keychain.weight(of: change, on: item)
    time += CallLimits.timeOfVersion * resealed.older
    bytes += resealed.bytes
  }

  /// Counts an item that is deleted; nil if there is none.
  package mutating func add(deleted item: ItemInfo?) {
    items += 1
    guard let item else { return }
    time += CallLimits.timeOfItem + CallLimits.timeOfExisting
    count(item.name, item.attributes, item.keyring)
    bytes += item.versions.reduce(0) { $0 + $1.size }
  }

  /// Counts the steps of comparisons of new names with the patterns of grants.
  mutating func add(steps: Int) { time += steps / CallLimits.steps }

  /// Counts the time, in microseconds, for making or checking a value; see ``KeyCost``.
  package mutating func add(computing time: Int) { computing += time }

  private mutating func count(_ name: ItemName, _ attributes: [String: String]?, _ keyring: KeyringFacts?) {
    time += CallLimits.time(name: name.text, attributes, keyring)
    text += CallLimits.text(name: name.text, attributes, keyring)
  }

  /// Checks the number of items in a call, before anything is looked up.
  ///
  /// - Throws: the refusal of a call with more items than the limit.
  package static func check(count: Int, atMost most: Int = CallLimits.items) throws(Refusal) {
    if count > most { throw .tooMuch("one call may have at most \(most) items, and this has \(count)") }
  }

  /// Checks the weight of a call.
  ///
  /// - Throws: the refusal of a call that changes more than one call may.
  package func check() throws(Refusal) {
    guard items > 1 else { return }
    if time > CallLimits.time {
      throw .tooMuch(
        "the items of one call, with their folders, attributes and older versions, may take at most "
          + "\(CallLimits.time / 1000) ms to be stored or deleted, and these take about \((time + 999) / 1000) ms")
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
