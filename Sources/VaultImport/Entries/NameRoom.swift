internal import VaultWire

/// The room for the names of a source's fields.
///
/// The name of a field consists of all names that lead to its value, so that a short file in which a long name leads to
/// many values would have names of any size.
struct NameRoom {
  /// The most bytes of all names together. Those of files that people use have less than a hundredth of it.
  static let most = 128 << 20

  private var left = most

  /// Takes room for a part of names.
  ///
  /// - Parameters:
  ///   - bytes: the size of the part.
  ///   - count: the number of names that it is a part of.
  /// - Throws: ``ImportFailure`` if there is less room.
  mutating func take(_ bytes: Int, for count: Int = 1) throws(ImportFailure) {
    let (size, isTooLarge) = bytes.multipliedReportingOverflow(by: count)
    guard !isTooLarge, size <= left else {
      throw ImportFailure(
        .tooLarge, "the names that lead to the values have more than \(Self.most >> 20) MiB, each value counted")
    }
    left -= size
  }
}
