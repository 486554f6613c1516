public import VaultModel

/// The record of one item without its values, sealed under the metadata key of the item's class.
///
/// A head vouches for the value records: it holds a digest of each, so an old row that is put back is detected.
public struct HeadRecord: Hashable, Sendable {
  /// The name, kind, attributes, policy, times, and the kept versions, newest last.
  public var item: ItemInfo
  /// The count of policy changes, from 1; value records are bound to it.
  public var policyRevision: Int
  /// The count of changes of this head, from 1.
  public var headRevision: Int
  /// The number of the next version, above every number ever used.
  public var nextVersion: Int
  /// The digest of each version's sealed value record, in the order of `item.versions`.
  public var digests: [Digest]
  /// Fields that later programs added; the fields that this program knows are in ``item``.
  public var extensions: Extensions

  /// The highest revision or version number: higher than counting can reach, and far below the limits of an integer.
  public static let lastNumber = 1 << 53
  /// The highest number of versions in a head: more than any store keeps, and few enough to look at all
  /// of them at once.
  public static let mostVersions = 64

  /// Makes a head. There must be as many digests as versions; version numbers start at 1 or above and ascend.
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

  /// The kept version `number` and its digest; nil if that version is not kept.
  public func version(_ number: Int) -> (info: VersionInfo, digest: Digest)? {
    // The search starts at the end, because the newest version is asked for most.
    for index in item.versions.indices.reversed() where item.versions[index].number == number {
      return (item.versions[index], digests[index])
    }
    return nil
  }
}
