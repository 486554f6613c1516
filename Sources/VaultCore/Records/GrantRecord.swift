public import VaultModel

/// One record of the table of grants: a grant, or a fact that decides how grants count. It is sealed under the grants
/// key of a class, once for each class in which it counts.
///
/// The stored form, numbers little-endian, texts UTF-8:
///
///   1  format version, 1    1  content: 1 a grant, 2 a confined subject, 3 unconfirmed, 4 a denial
///   a grant: 2  subject's size    …  subject    2  pattern's size    …  pattern    1  rights    8  created
///     1  bit 0: it ends, bit 1: it was used    8  end, only if it ends    8  last use, only if it was used
///   a confined subject: 2  size    …  subject
///   unconfirmed: 8  since
///   a denial: 2  subject's size    …  subject    2  name's size    …  name
///   2  size of the extension fields    …  extension fields (see Extensions)
///     a grant: field 1  the name of a unit's credential
///
/// Each record has exactly one encoding: bytes that decode encode to the same bytes again.
public struct GrantRecord: Hashable, Sendable {
  /// The content of a record.
  public enum Content: Hashable, Sendable {
    case grant(Grant)
    /// In a user's vault, the processes that match this subject have their own grants only, even if no grant is left.
    case confined(Subject)
    /// No grant counts until somebody has confirmed all of them, because the vault came from a backup at
    /// this time, Unix seconds.
    case unconfirmed(since: Int64)
    /// Processes that match this subject may no longer ask for the item of that name.
    case denied(Subject, ItemName)
  }

  /// The random identity of the record, the same in each class.
  public var id: ItemID
  public var content: Content
  /// Fields that later programs added.
  public var extensions: Extensions
  private static let credentialField: UInt8 = 1

  /// Makes a record with a new identity.
  public init(_ content: Content) {
    id = .random()
    self.content = content
    extensions = Extensions()
  }

  /// The grant, if the record is one.
  public var grant: Grant? { if case .grant(let grant) = content { grant } else { nil } }

  /// The place to which a record in a class is bound.
  public static func place(_ id: ItemID, _ vault: VaultID, _ accessible: AccessClass) -> AssociatedData {
    AssociatedData(vault: vault, table: .grants, item: id, version: 0, accessible: accessible, policyRevision: 0)
  }
}

extension GrantRecord {
  private static let formatVersion: UInt8 = 1
  private static let ends: UInt8 = 1
  private static let wasUsed: UInt8 = 2

  private var encodedCount: Int {
    let content =
      switch content {
      case .grant(let grant):
        2 + grant.subject.description.utf8.count + 2 + grant.pattern.text.utf8.count + 1 + 8 + 1
          + (grant.until == nil ? 0 : 8) + (grant.used == nil ? 0 : 8)
      case .confined(let subject): 2 + subject.description.utf8.count
      case .unconfirmed: 8
      case .denied(let subject, let name): 2 + subject.description.utf8.count + 2 + name.text.utf8.count
      }
    return 2 + content + fields.encodedCount
  }

  /// The extension fields, including those of this program.
  private var fields: Extensions {
    guard let credential = grant?.credential else { return extensions }
    return extensions.replacing(Self.credentialField, with: Array(credential.text.utf8))
  }

  /// The plaintext to seal. It contains names of items.
  public func encoded() -> SecureBytes {
    SecureBytes(count: encodedCount) { out in
      var writer = ByteWriter()
      writer.uint8(Self.formatVersion, &out)
      switch content {
      case .grant(let grant):
        writer.uint8(1, &out)
        writer.sized(grant.subject.description, &out)
        writer.sized(grant.pattern.text, &out)
        writer.uint8(grant.rights.rawValue, &out)
        writer.int64(grant.created, &out)
        writer.uint8((grant.until == nil ? 0 : Self.ends) | (grant.used == nil ? 0 : Self.wasUsed), &out)
        if let until = grant.until { writer.int64(until, &out) }
        if let used = grant.used { writer.int64(used, &out) }
      case .confined(let subject):
        writer.uint8(2, &out)
        writer.sized(subject.description, &out)
      case .unconfirmed(let since):
        writer.uint8(3, &out)
        writer.int64(since, &out)
      case .denied(let subject, let name):
        writer.uint8(4, &out)
        writer.sized(subject.description, &out)
        writer.sized(name.text, &out)
      }
      fields.write(&writer, &out)
      precondition(writer.offset == out.byteCount, "a grant's size was computed wrongly")
    }
  }

  /// Reads bytes that ``encoded()`` wrote.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` for any other bytes.
  public init(decoding input: RawSpan, id: ItemID) throws(CryptoError) {
    var texts = GrantTexts()
    try self.init(decoding: input, id: id, &texts)
  }

  /// Reads one of many records.
  ///
  /// - Parameter texts: The subjects and patterns of the records read before; those of this record are added.
  public init(decoding input: RawSpan, id: ItemID, _ texts: inout GrantTexts) throws(CryptoError) {
    self.id = id
    var reader = ByteReader()
    guard try reader.uint8(input) == Self.formatVersion else { throw .malformed("unknown version of grant") }
    switch try reader.uint8(input) {
    case 1: content = .grant(try Self.grant(&reader, input, &texts))
    case 2: content = .confined(try texts.subject(&reader, input))
    case 3: content = .unconfirmed(since: try reader.int64(input))
    case 4:
      let subject = try texts.subject(&reader, input)
      guard let name = try? ItemName(try reader.text(try reader.uint16(input), input)) else {
        throw .malformed("name of denial")
      }
      content = .denied(subject, name)
    default: throw .malformed("unknown content of grant")
    }
    extensions = try Extensions(&reader, input)
    try reader.finish(input)
    guard case .grant(var grant) = content else { return }
    extensions = try extensions.taking { (type, bytes) throws(CryptoError) in
      guard type == Self.credentialField else { return false }
      guard let text = String(validating: bytes, as: UTF8.self), let credential = try? CredentialID(text) else {
        throw .malformed("credential of grant")
      }
      grant.credential = credential
      return true
    }
    content = .grant(grant)
  }

  private static func grant(
    _ reader: inout ByteReader, _ input: RawSpan, _ texts: inout GrantTexts
  ) throws(CryptoError) -> Grant {
    let subject = try texts.subject(&reader, input)
    let pattern = try texts.pattern(&reader, input)
    let rights = Rights(rawValue: try reader.uint8(input))
    guard rights.isKnown else { throw .malformed("rights of grant") }
    let created = try reader.int64(input)
    let flags = try reader.uint8(input)
    guard flags & ~(ends | wasUsed) == 0 else { throw .malformed("flags of grant") }
    let until = flags & ends == 0 ? nil : try reader.int64(input)
    let used = flags & wasUsed == 0 ? nil : try reader.int64(input)
    return Grant(subject: subject, pattern: pattern, rights: rights, until: until, created: created, used: used)
  }
}
