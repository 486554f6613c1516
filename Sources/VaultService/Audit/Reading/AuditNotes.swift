package import VaultCore
internal import VaultModel

/// The notes of the log's links that were made elsewhere, such as in the journal, to be compared with the log.
///
/// A log has one link for each entry. So two different links for one entry show that the log was another one when one
/// of them was noted, whether or not the log still has that entry. The only exception: earlier versions have noted the
/// link of a chain's beginning for the entry before the chain, and a log that still has both links is the same one.
package struct AuditNotes: Sendable {
  /// The first link that was noted for each entry, by the number of the entry.
  private(set) var links: [Int64: Digest] = [:]
  /// The further links that were noted for an entry, by the number of the entry.
  private(set) var others: [Int64: Set<Digest>] = [:]

  package init() {}

  /// Adds the link that was noted for an entry. It covers all entries up to that one.
  package mutating func add(_ link: Digest, for entry: Int64) {
    if links[entry] == nil { links[entry] = link }
    if links[entry] != link { others[entry, default: []].insert(link) }
  }

  /// The number of links that differ from the first one for the same entry.
  var further: Int { others.values.reduce(0) { $0 + $1.count } }

  /// The most contradictions that are reported.
  private static let mostReported = 64

  /// The faults that the notes show by themselves: the first ones, up to a limit.
  ///
  /// - Parameter agreed: the numbers of the entries of which the log has all the links.
  func faults(except agreed: Set<Int64>) -> [AuditReading.Result.Fault] {
    others.keys.filter { !agreed.contains($0) }.sorted().prefix(Self.mostReported).map { entry in
      AuditReading.Result.Fault(
        first: nil, last: nil, text: "the links noted elsewhere for entry \(entry) contradict each other")
    }
  }
}
