import Testing
import VaultModel

@testable import VaultCore

@Suite struct BackupHeaderTests: ~Copyable {
  private let vaultID = VaultID.random()
  private let vaultKey = RandomBytes.secret(count: 32)
  private let classKey = RandomBytes.secret(count: 32)

  private func slot(_ id: UInt32, _ kind: SlotKind = .recovery) throws -> SlotRecord {
    let secret = kind == .recovery ? RecoveryCode.random().text() : SecureBytes(text: "password")
    return try SlotRecord.make(
      id: id, kind: kind, label: "é", created: 5, secret: secret, kdf: kind == .recovery ? nil : .floor,
      vaultKey: vaultKey, vaultID: vaultID.bytes)
  }

  private func header(_ slots: [SlotRecord], size: Int = 200_000) throws(CryptoError) -> BackupHeader {
    try BackupHeader(
      vaultID: vaultID, created: 1_700_000_000, size: size, slots: slots,
      wrappedKey: KeyWrap.wrap(
        classKey: classKey, of: .afterFirstUnlock, under: .vault, key: vaultKey, vaultID: vaultID))
  }

  private func decode(_ bytes: [UInt8]) throws(CryptoError) -> BackupHeader {
    try bytes.lend { (bytes: RawSpan) throws(CryptoError) in try BackupHeader(decoding: bytes) }
  }

  /// Seals a stream of a single piece.
  private func seal(_ piece: [UInt8], _ header: inout BackupHeader) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: piece.count + StreamSealer.overhead)
    var sealer = header.seal(backupKey: Subkey.backup.derive(from: classKey))
    var span = sealed.mutableSpan
    var out = unsafe span.mutableBytes
    _ = sealer.seal(unsafe piece.span.bytes, isLast: true, associatedData: RawSpan(), into: &out)
    return sealed
  }

  @Test("A header reads back as it was written, and its stream opens with the vault key alone") func roundTrip() throws
  {
    var header = try header([slot(1, .password), slot(2)])
    let piece = [UInt8]("the database".utf8)
    let sealed = seal(piece, &header)
    let read = try decode(header.encoded())
    #expect(read == header)
    #expect(read.slots.map(\.id) == [1, 2])
    var opener = try read.open(vaultKey: vaultKey)
    var opened = [UInt8](repeating: 0, count: piece.count)
    var span = opened.mutableSpan
    var out = unsafe span.mutableBytes
    #expect(
      try opener.open(unsafe sealed.span.bytes, isLast: true, associatedData: RawSpan(), into: &out) == piece.count)
    #expect(opened == piece)
    let error = failure { () throws(CryptoError) in _ = try read.open(vaultKey: RandomBytes.secret(count: 32)) }
    #expect(error == .authenticationFailed)
  }

  @Test("Two backups of one vault have nothing in common that seals them") func freshSalt() throws {
    let slots = [try slot(1)]
    let (first, second) = (try header(slots), try header(slots))
    #expect(first.salt != second.salt)
  }

  @Test("Another salt is another key of the stream") func salted() throws {
    var header = try header([slot(1)])
    let piece = [UInt8]("the database".utf8)
    let sealed = seal(piece, &header)
    for bit in [nil, 0, 255] {
      let salted = try BackupHeader(
        vaultID: header.vaultID, created: header.created, size: header.size,
        salt: bit.map { header.salt.flipping(bit: $0) } ?? header.salt, slots: header.slots,
        wrappedKey: header.wrappedKey, streamHeader: header.streamHeader)
      let error = failure { () throws(CryptoError) in
        var opener = try salted.open(vaultKey: vaultKey)
        var opened = [UInt8](repeating: 0, count: piece.count)
        var span = opened.mutableSpan
        var out = unsafe span.mutableBytes
        _ = try opener.open(unsafe sealed.span.bytes, isLast: true, associatedData: RawSpan(), into: &out)
      }
      #expect(error == (bit == nil ? nil : .authenticationFailed))
    }
  }

  @Test("Every truncation and extension is refused") func truncated() throws {
    let bytes = try header([slot(1)]).encoded()
    for count in 0..<bytes.count {
      #expect(failure { () throws(CryptoError) in _ = try decode(Array(bytes[..<count])) } != nil)
      // The same holds if the header's size is changed to match.
      guard count >= BackupPrefix.count else { continue }
      let fitting = BackupPrefix(headerCount: count).bytes + bytes[BackupPrefix.count..<count]
      #expect(failure { () throws(CryptoError) in _ = try decode(fitting) } != nil, "\(count)")
    }
    #expect(failure { () throws(CryptoError) in _ = try decode(bytes + [0]) } != nil)
  }

  @Test("Every flipped bit is refused or is another header, which the first piece then tells") func flipped() throws {
    let bytes = try header([slot(1)]).encoded()
    for bit in 0..<bytes.count * 8 {
      let flipped = bytes.flipping(bit: bit)
      guard let read = try? decode(flipped) else { continue }
      #expect(read.encoded() == flipped, "bit \(bit)")
    }
  }

  @Test("Numbers beyond what can be are refused") func limits() throws {
    let slot = try slot(1)
    let bytes = try header([slot]).encoded()
    func patched(_ value: UInt64, at offset: Int, count: Int) -> [UInt8] {
      var copy = bytes
      for index in 0..<count { copy[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index)) }
      return copy
    }
    // The database's size stands at offset 37, the number of slots at offset 77.
    for size in [0, UInt64(Int64.max), .max, 1 << 63] {
      #expect(failure { () throws(CryptoError) in _ = try decode(patched(size, at: 37, count: 8)) } != nil, "\(size)")
    }
    #expect(try decode(patched(1 << 40, at: 37, count: 8)).size == 1 << 40)
    for count in [0, 2, 255] as [UInt64] {
      #expect(failure { () throws(CryptoError) in _ = try decode(patched(count, at: 77, count: 1)) } != nil)
    }
    #expect(failure { () throws(CryptoError) in _ = try header([]) }?.isLimits == true)
    let many = [SlotRecord](repeating: slot, count: 256)
    #expect(failure { () throws(CryptoError) in _ = try header(many) }?.isLimits == true)
    #expect(try header(Array(many.dropLast())).encoded().count <= BackupPrefix.maximumHeader)
  }

  @Test("A slot that needs its machine is refused") func foreignSlot() throws {
    let login = try SlotRecord.make(
      id: 1, kind: .login, label: "", created: 5, secret: SecureBytes(text: "p"), kdf: .floor, vaultKey: vaultKey,
      vaultID: vaultID.bytes)
    #expect(failure { () throws(CryptoError) in _ = try header([login]) }?.isMalformed == true)
  }

  @Test("The pieces cover the database, whatever its size", arguments: [1, 65_535, 65_536, 65_537, 200_000])
  func pieces(size: Int) throws {
    let header = try header([slot(1)], size: size)
    let sizes = (0..<header.pieces).map(header.pieceSize)
    #expect(sizes.reduce(0, +) == size)
    #expect(sizes.allSatisfy { $0 > 0 && $0 <= BackupHeader.pieceCount })
    #expect(header.streamCount == size + sizes.count * StreamSealer.overhead)
  }
}
