/// The readers of the audit log: their number by uid, and the names that they share.
final class AuditReaders {
  /// The place of one reader, for as long as it reads.
  final class Place {
    private let uid: UInt32
    private weak var readers: AuditReaders?

    fileprivate init(_ uid: UInt32, _ readers: AuditReaders) { (self.uid, self.readers) = (uid, readers) }

    deinit { readers?.leave(uid) }
  }

  /// The most readers of one uid; each holds a page of entries, and the entries whose repetitions may follow.
  static let most = 8

  let names: AuditNames
  private var counts: [UInt32: Int] = [:]

  init(in holders: SecretHolders) { names = AuditNames(in: holders) }

  /// Adds a reader.
  ///
  /// - Throws: ``Refusal/busy(_:)`` if a uid has as many readers as it may have.
  func enter(_ uid: UInt32) throws(Refusal) -> Place {
    guard counts[uid, default: 0] < Self.most else {
      throw .busy("\(Self.most) programs of this user are reading the audit log")
    }
    counts[uid, default: 0] += 1
    return Place(uid, self)
  }

  private func leave(_ uid: UInt32) {
    guard let count = counts[uid] else { return }
    counts[uid] = count > 1 ? count - 1 : nil
    if counts.isEmpty { names.forget() }
  }
}
