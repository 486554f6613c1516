internal import VaultModel
internal import VaultWire

/// The earlier values of a source's item that an update of a present item leaves out, which are the oldest ones.
///
/// The vault keeps few versions of an item. So the source's history does not displace that of the item: an update
/// stores only what comes after the item's current value in the source, and of an item whose value the source has never
/// had, only the newest value. The version that the update replaces stays among those that the vault keeps, because an
/// undo restores it: a source's item has at most as many earlier values as the vault keeps beside the current one, and
/// the replaced value is one of them if any others are stored.
struct PastVersions {
  /// The number of earlier values that are left out.
  let count: Int
  /// The number of values in the source up to the one that is the item's current value; 0 if it has none such.
  private let place: Int
  /// True if the item has at least as many versions as the source has values up to the item's current one.
  private let isWhole: Bool

  /// - Parameter place: the number of values in the source, the oldest first, up to the one that is the current value
  ///   of the item in the vault; nil if none is.
  init(of item: ImportedItem, in present: Wire.Item, upTo place: Int?) {
    let (last, all) = (place ?? 0, item.versions.count)
    (self.place, count, isWhole) = (last, min(place ?? all, all), present.version >= last)
  }

  /// True if the vault has the earlier value at this index already, as far as its current value and the number of its
  /// versions tell.
  func isKnown(_ index: Int) -> Bool { index == place - 1 || (index < place && isWhole) }
}
