internal import VaultBytes
internal import VaultWire

/// One QR code of an export of Google Authenticator: an `otpauth-migration://` URI with some of the accounts.
///
/// Google publishes no description. The fields are those of `OtpMigration.proto`
/// (https://github.com/qistoph/otp_export) and of Aegis' `google_auth.proto`
/// (https://github.com/beemdevelopment/Aegis), and the unique id of later versions.
struct MigrationPart {
  private(set) var accounts: [MigrationAccount] = []
  /// The bytes of the whole part.
  let data: [UInt8]
  /// The number of parts of the whole export, the place of this one, from 0, and the number that all of them share.
  private(set) var size: UInt64 = 1
  private(set) var index: UInt64 = 0
  private(set) var batch: UInt64 = 0

  static let prefix = "otpauth-migration://"
  /// A QR code has room for at most 100 accounts.
  private static let mostAccounts = 10_000

  /// Reads a URI.
  ///
  /// - Throws: ``ImportFailure`` with a reason to follow "line 1: ".
  init(_ uri: some Collection<UInt8>) throws(ImportFailure) {
    guard let data = Self.data(of: uri) else {
      throw ImportFailure(.damaged, "the otpauth-migration URI has no 'data' in base64")
    }
    self.data = data
    var reader = ProtoReader(data[...])
    while let (number, value) = try reader.next() {
      switch (number, value) {
      case (1, .bytes(let account)):
        guard accounts.count < Self.mostAccounts else {
          throw ImportFailure(.tooLarge, "the export has more than \(Self.mostAccounts) accounts")
        }
        accounts.append(try MigrationAccount(account))
      case (3, .number(let number)): size = number
      case (4, .number(let number)): index = number
      case (5, .number(let number)): batch = number
      default: break
      }
    }
  }

  /// The decoded parameter `data`; nil if there is none or it is not base64.
  private static func data(of uri: some Collection<UInt8>) -> [UInt8]? {
    let query = uri.drop { $0 != UInt8(ascii: "?") }.dropFirst()
    let parameters = query.split(separator: UInt8(ascii: "&"))
    guard let data = parameters.first(where: { $0.starts(with: "data=".utf8) }) else { return nil }
    let text = String(decoding: data.dropFirst("data=".utf8.count), as: UTF8.self)
    guard let escaped = PercentEscape.strictBytes(text[...]) else { return nil }
    var symbols = escaped.filter { $0 != UInt8(ascii: "=") }.map { byte in
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    while symbols.count % 4 != 0 { symbols.append(UInt8(ascii: "=")) }
    return [UInt8](base64: String(decoding: symbols, as: UTF8.self))
  }
}

/// The parts of all exports in a file.
struct MigrationParts {
  private var seen: [UInt64: (size: UInt64, indices: Set<UInt64>)] = [:]
  private var order: [UInt64] = []
  private var contents: Set<[UInt8]> = []

  /// Counts a part; false if the same one was there before. Older exports do not number their parts.
  mutating func insert(_ part: MigrationPart) -> Bool {
    if seen[part.batch] == nil { order.append(part.batch) }
    var batch = seen[part.batch] ?? (part.size, [])
    batch.size = max(batch.size, part.size)
    batch.indices.insert(part.index)
    seen[part.batch] = batch
    return contents.insert(part.data).inserted
  }

  /// The missing parts in words, such as "parts 2 and 3 of 3 are missing"; empty if none is missing.
  var missing: String {
    order.compactMap { Self.missing(seen[$0] ?? (0, [])) }.joined(separator: ", and ")
  }

  private static func missing(_ batch: (size: UInt64, indices: Set<UInt64>)) -> String? {
    let found = batch.indices.filter { $0 < batch.size }
    let count = batch.size - UInt64(found.count)
    if count == 0 { return nil }
    // A real export has a handful of parts; a damaged one may claim any number of them.
    guard batch.size <= 100 else { return "\(count) parts of \(batch.size) are missing" }
    let missing = (0..<batch.size).filter { !found.contains($0) }.map { String($0 + 1) }
    guard missing.count > 1, let last = missing.last else {
      return "part \(missing.joined()) of \(batch.size) is missing"
    }
    return "parts \(missing.dropLast().joined(separator: ", ")) and \(last) of \(batch.size) are missing"
  }
}
