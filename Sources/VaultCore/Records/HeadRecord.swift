public import VaultModel

/// The record that the store keeps about one item besides its values; sealed under its class's metadata key.
///
/// A head vouches for the value records: it holds a digest of each, so an old row that is put back does not pass.
public struct HeadRecord: Hashable, Sendable {
  /// Name, kind, attributes, policy, times and the versions that are kept, newest last.
  public var item: ItemInfo
  /// Counts changes of the policy from 1; value records are bound to it.
  public var policyRevision: Int
  /// Counts changes of this head from 1.
  public var headRevision: Int
  /// The number that the next version gets, above all that were ever used.
  public var nextVersion: Int
  /// The digest of each version's sealed value record, in the order of `item.versions`.
  public var digests: [Digest]
  /// Fields that later programs added; those that this one knows are in ``item``.
  public var extensions: Extensions

  /// The highest revision or version number: more than one can come to by counting, and far from what a number can hold.
  public static let lastNumber = 1 << 53
  /// The most versions that a head names: more than any store keeps, and few enough to look at all of them at once.
  public static let mostVersions = 64

  /// Makes a head. There must be as many digests as versions; numbers count from 1 and ascend.
  public init(
    item: ItemInfo, policyRevision: Int, headRevision: Int, nextVersion: Int, digests: [Digest],
    extensions: Extensions = Extensions()
  ) {
    precondition(digests.count == item.versions.count, "each version has a digest")
    self.item = item
    self.policyRevision = policyRevision
    self.headRevision = headRevision
    self.nextVersion = nextVersion
    self.digests = digests
    self.extensions = extensions
  }

  /// The kept version `number` and its digest; nil when it is not kept.
  public func version(_ number: Int) -> (info: VersionInfo, digest: Digest)? {
    // From the end: the newest is asked for most.
    for index in item.versions.indices.reversed() where item.versions[index].number == number {
      return (item.versions[index], digests[index])
    }
    return nil
  }
}
