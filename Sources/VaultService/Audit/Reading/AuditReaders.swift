/// The readers of the audit log: their number by user and subject, and the names that they share.
final class AuditReaders {
  /// The place of one reader, for as long as it reads.
  final class Place {
    private let reader: Reader
    private weak var readers: AuditReaders?

    fileprivate init(_ reader: Reader, _ readers: AuditReaders) { (self.reader, self.readers) = (reader, readers) }

    deinit { readers?.leave(reader) }
  }

  /// A user's processes that count as one subject. A program that is confined to its grants is a separate subject, so
  /// its readers take no places of the user's other programs.
  struct Reader: Hashable {
    let uid: UInt32
    let subject: AuditSubject.Name
  }

  /// The most readers of one user and subject. Each reader holds a page of entries, and the entries whose repetitions
  /// may follow.
  static let most = 8

  let names: AuditNames
  private var counts: [Reader: Int] = [:]

  init(in holders: SecretHolders) { names = AuditNames(in: holders) }

  /// Adds a reader.
  ///
  /// - Throws: ``Refusal/busy(_:)`` if the user's subject has as many readers as it may have.
  func enter(_ reader: Reader) throws(Refusal) -> Place {
    guard counts[reader, default: 0] < Self.most else {
      throw .busy("\(Self.most) programs are reading the audit log for the same user")
    }
    counts[reader, default: 0] += 1
    return Place(reader, self)
  }

  private func leave(_ reader: Reader) {
    guard let count = counts[reader] else { return }
    counts[reader] = count > 1 ? count - 1 : nil
    if counts.isEmpty { names.forget() }
  }
}
