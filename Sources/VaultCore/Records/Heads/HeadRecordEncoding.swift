internal import VaultModel

// Versions 1 and 2 of the encoding. Version 2 is that of an item with facts for a keyring's clients, and version 1 that
// of any other item; a program that knows only version 1 refuses version 2. Numbers are little-endian; times are Unix
// seconds, signed.
//
//   1  format version, 1 or 2
//   1  kind: a number from 1, which never changes (see ItemKind.Facts)
//   1  access class    1  requirement    4  reuse window in seconds
//   8  policy revision, from 1    8  head revision, from 1
//   8  created    8  modified    1  whether it expires, 0 or 1    8  expires, only if it does
//   2  name's size    …  name, UTF-8
//   2  number of attributes, then for each, in ascending order of the keys' bytes:
//        1  key's size    …  key, ASCII    2  value's size    …  value, UTF-8
//   8  current version    8  next version number
//   2  number of versions, from 1 to 64, then for each, in ascending order:
//        8  number, from 1    8  created    4  size of the value in bytes    32  BLAKE2b of the sealed value record
//   …  only in version 2: the facts for a keyring's clients (see KeyringEncoding)
//   2  size of the extension fields    …  extension fields (see Extensions)
//
// Extension fields:
//   type 1, an item in the trash: 8  time of the deletion    8  age of the trash then, in seconds
//   type 2, the authors, if any is known: see HeadAuthors
//   type 3, a key: 1  its use, 0 if the kind tells it    …  its public half in SSH's form, if that is known
//   type 4, with type 1: 8  number of the deletion, from 1
//   type 128, without content: a key that is never read; a program that does not know this field refuses the record
//
// Earlier programs write no field of type 4, but keep an existing one, even when they take the item out of the trash;
// without the field of type 1 it means nothing.
//
// Each head has exactly one encoding: bytes that decode encode to the same bytes again.
extension HeadRecord {
  private static let (plainVersion, keyringVersion): (UInt8, UInt8) = (1, 2)
  private static let versionCount = 8 + 8 + 4 + Digest.count
  private static let trashedField: UInt8 = 1
  private static let authorsField: UInt8 = 2
  private static let keyField: UInt8 = 3
  private static let deletionField: UInt8 = 4
  private static let neverReadField: UInt8 = 128
  /// The highest number of bytes of a public key in SSH's form; an RSA key of 16,384 bits has about 2,100.
  private static let longestPublicKey = 4096

  /// The size of ``encoded()`` in bytes.
  public var encodedCount: Int { encodedCount(with: allExtensions) }

  private func encodedCount(with extensions: Extensions) -> Int {
    var count = 1 + 1 + 1 + 1 + 4 + 8 + 8 + 8 + 8 + 1 + (item.expires == nil ? 0 : 8)
    count += 2 + item.name.text.utf8.count + 2
    for (key, value) in item.attributes { count += 1 + key.utf8.count + 2 + value.utf8.count }
    if let keyring = item.keyring { count += KeyringEncoding.count(keyring) }
    return count + 8 + 8 + 2 + item.versions.count * Self.versionCount + extensions.encodedCount
  }

  /// The extension fields, including those that this program knows.
  private var allExtensions: Extensions {
    var extensions = extensions
    if let trashed = item.trashed {
      extensions = extensions.replacing(Self.trashedField, with: Self.bytes(trashed.time) + Self.bytes(trashed.age))
      if trashed.number != 0 {
        extensions = extensions.replacing(Self.deletionField, with: Self.bytes(trashed.number))
      }
    }
    if let authors = HeadAuthors.encode(item) { extensions = extensions.replacing(Self.authorsField, with: authors) }
    if item.statedUse != nil || item.publicKey != nil {
      let key = [item.statedUse?.rawValue ?? 0] + (item.publicKey ?? [])
      extensions = extensions.replacing(Self.keyField, with: key)
    }
    if item.policy.isNeverRead { extensions = extensions.replacing(Self.neverReadField, with: []) }
    return extensions
  }

  /// Copies the content of a key's field into an item.
  private static func decodeKey(_ bytes: [UInt8], into item: inout ItemInfo) throws(CryptoError) {
    let fault = CryptoError.malformed("key field")
    guard let code = bytes.first, bytes.count <= 1 + longestPublicKey else { throw fault }
    if code != 0 {
      // Each head has exactly one encoding, so a use that the kind tells is not stored.
      guard let use = KeyUse(rawValue: code), use.kind == nil, item.kind.use == nil else { throw fault }
      item.statedUse = use
    }
    if bytes.count > 1 { item.publicKey = Array(bytes.dropFirst()) }
    guard item.statedUse != nil || item.publicKey != nil, item.use != nil else { throw fault }
  }

  /// Reads the field of an item that is in the trash.
  private static func trashed(_ bytes: [UInt8]) throws(CryptoError) -> Trashed {
    guard bytes.count == 16 else { throw .malformed("trash field") }
    return Trashed(time: number(bytes[..<8]), age: number(bytes[8...]))
  }

  /// Reads the field with the number of a deletion.
  private static func deletion(_ bytes: [UInt8]) throws(CryptoError) -> Int64 {
    guard bytes.count == 8, (1...Int64(lastNumber)).contains(number(bytes[...])) else {
      throw .malformed("field of a deletion")
    }
    return number(bytes[...])
  }

  private static func bytes(_ number: Int64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 { bytes.reversed().reduce(0) { $0 << 8 | Int64($1) } }

  /// The plaintext to seal.
  ///
  /// Traps on a head that ``validate()`` refuses, because nobody could read that head back.
  public func encoded() -> SecureBytes {
    check()
    let extensions = allExtensions
    return SecureBytes(count: encodedCount(with: extensions)) { out in write(extensions, to: &out) }
  }

  /// Writes the plaintext to seal into `scratch`.
  ///
  /// Traps on a head that ``validate()`` refuses, because nobody could read that head back.
  public func encode(into scratch: Scratch) {
    check()
    // Built once, because both the size and the bytes need it.
    let extensions = allExtensions
    scratch.fill(count: encodedCount(with: extensions)) { out in write(extensions, to: &out) }
  }

  private func check() {
    do throws(CryptoError) { try validate() } catch { preconditionFailure("a head that cannot be read back") }
  }

  /// Refuses a head for which the encoding has no room.
  ///
  /// - Throws: ``CryptoError/limits(_:)`` for attributes beyond the limits of `Attributes`, more than ``mostVersions``
  ///   versions, versions that do not ascend from 1, a next version that is not above them, a size of 4 GiB or more,
  ///   revisions below 1, a deletion's number below 0, or numbers above ``lastNumber``; also for authors, key fields
  ///   and facts for a keyring that the encoding does not allow.
  public func validate() throws(CryptoError) {
    guard policyRevision >= 1, headRevision >= 1 else { throw .limits("a revision is below 1") }
    guard max(policyRevision, headRevision, nextVersion) <= Self.lastNumber else {
      throw .limits("a number is too high")
    }
    guard item.attributes.count <= Attributes.maximumCount else { throw .limits("too many attributes") }
    for (key, value) in item.attributes {
      guard AttributeEncoding.isKey(key) else { throw .limits("attribute's name") }
      guard value.utf8.count <= Attributes.maximumValueBytes else { throw .limits("attribute is too long") }
    }
    guard digests.count == item.versions.count, 1...Self.mostVersions ~= digests.count else {
      throw .limits("number of versions")
    }
    var last = 0
    for version in item.versions {
      guard version.number > last else { throw .limits("versions are out of order") }
      guard UInt32(exactly: version.size) != nil else { throw .limits("size of a version") }
      last = version.number
    }
    guard nextVersion > last else { throw .limits("next version") }
    guard (0...Int64(Self.lastNumber)).contains(item.trashed?.number ?? 0) else {
      throw .limits("number of a deletion")
    }
    do throws(ValueError) { try item.keyring?.validate() } catch { throw .limits("facts for a keyring") }
    try HeadAuthors.validate(item)
    guard item.publicKey.map({ (1...Self.longestPublicKey).contains($0.count) && item.use != nil }) ?? true,
      item.statedUse == nil || item.kind.use == nil && item.statedUse?.kind == nil
    else { throw .limits("key") }
    guard !item.policy.isNeverRead || item.use != nil else { throw .limits("only a key can be never read") }
    // The fields of this program alone always fit.
    guard extensions == Extensions() || allExtensions.fitsEncoding else { throw .limits("extension fields") }
  }

  private func write(_ extensions: Extensions, to out: inout MutableRawSpan) {
    var writer = ByteWriter()
    writer.uint8(item.keyring == nil ? Self.plainVersion : Self.keyringVersion, &out)
    writer.uint8(item.kind.facts.number, &out)
    writer.uint8(item.policy.accessible.rawValue, &out)
    writer.uint8(item.policy.require.rawValue, &out)
    writer.uint32(item.policy.reuseWindow, &out)
    writer.int64(Int64(policyRevision), &out)
    writer.int64(Int64(headRevision), &out)
    writer.int64(item.created, &out)
    writer.int64(item.modified, &out)
    writer.uint8(item.expires == nil ? 0 : 1, &out)
    if let expires = item.expires { writer.int64(expires, &out) }
    writer.uint16(item.name.text.utf8.count, &out)
    writer.text(item.name.text, &out)
    AttributeEncoding.write(item.attributes, &writer, &out)
    writer.int64(Int64(item.current.number), &out)
    writer.int64(Int64(nextVersion), &out)
    writer.uint16(item.versions.count, &out)
    for (version, digest) in zip(item.versions, digests) {
      writer.int64(Int64(version.number), &out)
      writer.int64(version.created, &out)
      writer.uint32(UInt32(version.size), &out)
      digest.withBytes { writer.bytes($0, &out) }
    }
    if let keyring = item.keyring { KeyringEncoding.write(keyring, &writer, &out) }
    extensions.write(&writer, &out)
    precondition(writer.offset == out.byteCount, "a head's size was computed wrongly")
  }

  /// Reads bytes that ``encoded()`` wrote.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` for any other bytes; nothing is guessed or repaired.
  public init(decoding input: RawSpan) throws(CryptoError) {
    var reader = ByteReader()
    let version = try reader.uint8(input)
    guard version == Self.plainVersion || version == Self.keyringVersion else {
      throw .malformed("unknown version of head record")
    }
    guard let kind = ItemKind(code: try reader.uint8(input)) else { throw .malformed("unknown kind") }
    let policy = try Self.policy(&reader, input)
    policyRevision = try reader.count(input, least: 1, "policy revision")
    headRevision = try reader.count(input, least: 1, "head revision")
    let created = try reader.int64(input)
    let modified = try reader.int64(input)
    let expires: Int64?
    switch try reader.uint8(input) {
    case 0: expires = nil
    case 1: expires = try reader.int64(input)
    default: throw .malformed("expiry flag")
    }
    let name = try Self.name(&reader, input)
    let attributes = try AttributeEncoding.read(&reader, input)
    let current = try reader.count(input, least: 1, "current version")
    nextVersion = try reader.count(input, least: 1, "next version")
    var versions: [VersionInfo] = []
    (versions, digests) = try Self.versions(&reader, input)
    guard let newest = versions.last, newest.number == current, current < nextVersion else {
      throw .malformed("current version is not the newest")
    }
    guard max(policyRevision, headRevision, nextVersion) <= Self.lastNumber else {
      throw .malformed("a number is too high")
    }
    let keyring = version == Self.keyringVersion ? try KeyringEncoding.read(&reader, input) : nil
    let extensions = try Extensions(&reader, input, decisive: [Self.neverReadField])
    try reader.finish(input)
    var item = ItemInfo(
      name: name, kind: kind, attributes: attributes, policy: policy, created: created, modified: modified,
      expires: expires, versions: versions, keyring: keyring)
    self.extensions = try extensions.taking { (type, content) throws(CryptoError) in
      switch type {
      case Self.trashedField: item.trashed = try Self.trashed(content)
      case Self.authorsField: try HeadAuthors.decode(content, into: &item)
      case Self.keyField: try Self.decodeKey(content, into: &item)
      case Self.deletionField where item.trashed != nil: item.trashed?.number = try Self.deletion(content)
      case Self.neverReadField:
        guard content.isEmpty, item.use != nil else { throw .malformed("field of a key that is never read") }
        item.policy.isNeverRead = true
      default: return false
      }
      return true
    }
    self.item = item
  }

  private static func policy(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> Policy {
    guard let accessible = AccessClass(rawValue: try reader.uint8(input)) else { throw .malformed("unknown class") }
    guard let require = Requirement(rawValue: try reader.uint8(input)) else { throw .malformed("unknown requirement") }
    return Policy(accessible: accessible, require: require, reuseWindow: try reader.uint32(input))
  }

  private static func name(_ reader: inout ByteReader, _ input: RawSpan) throws(CryptoError) -> ItemName {
    let text = try reader.text(try reader.uint16(input), input)
    guard let name = try? ItemName(text) else { throw .malformed("name") }
    return name
  }

  private static func versions(
    _ reader: inout ByteReader, _ input: RawSpan
  ) throws(CryptoError) -> ([VersionInfo], [Digest]) {
    let count = try reader.uint16(input)
    guard count <= mostVersions else { throw .malformed("too many versions") }
    guard count * versionCount <= reader.remaining(input) else { throw .malformed("record is too short") }
    var versions: [VersionInfo] = []
    var digests: [Digest] = []
    versions.reserveCapacity(count)
    digests.reserveCapacity(count)
    var last = 0
    for _ in 0..<count {
      let number = try reader.count(input, least: 1, "version number")
      guard number > last else { throw .malformed("version number is out of range") }
      let created = try reader.int64(input)
      versions.append(VersionInfo(number: number, created: created, size: Int(try reader.uint32(input))))
      guard let digest = Digest(input.extracting(try reader.range(Digest.count, input))) else {
        throw .malformed("digest")
      }
      digests.append(digest)
      last = number
    }
    return (versions, digests)
  }
}

extension ItemKind {
  /// The kinds at the places of their numbers.
  private static let numbered: [ItemKind?] = (0...UInt8(allCases.count)).map { number in
    allCases.first { $0.facts.number == number }
  }

  /// The kind with that number in the store.
  init?(code: UInt8) {
    guard code < Self.numbered.count, let kind = Self.numbered[Int(code)] else { return nil }
    self = kind
  }
}
