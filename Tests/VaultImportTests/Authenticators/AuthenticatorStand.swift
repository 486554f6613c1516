import Foundation
import Testing
import VaultWire

@testable import VaultImport

/// The files of authenticators in the folder Files, read with given passwords.
///
/// A script in Python has made them by the published descriptions alone: docs/vault.md of Aegis, Entry.java and
/// EncryptedRestoreTask.java of andOTP, and BackupContent.kt and BackupCipherImpl.kt of 2FAS. For the encryption it
/// uses cryptography's AESGCM and Scrypt, and hashlib's pbkdf2_hmac. The files that `small` names have a cheap
/// derivation and one account, so that each of their bits can be flipped.
enum AuthenticatorStand {
  /// The secret of most accounts, `12345678901234567890`.
  static let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
  /// The password of the files whose derivation is as costly as that of the programs, and that of the other ones.
  static let (password, small) = ("räkel 17", "pw")

  static func file(_ name: String) throws -> [UInt8] {
    let url = try #require(Bundle.module.url(forResource: "Files/\(name)", withExtension: nil))
    return Array(try Data(contentsOf: url))
  }

  /// Reads a file. Each question gets the next password, and the ones after the last get none.
  static func read(
    _ reader: any SourceReader.Type, _ bytes: [UInt8], name: String = "a", _ passwords: String...
  ) throws(ImportFailure) -> ReadEntries {
    var rest = passwords[...]
    return try ReadEntries(reader, [Source.File(name, bytes)]) { _ in rest.popFirst().map { Array($0.utf8) } }
  }

  /// The failure of reading; nil if there is none.
  static func failure(
    _ reader: any SourceReader.Type, _ bytes: [UInt8], _ password: String? = nil
  ) -> ImportFailure? {
    do throws(ImportFailure) {
      if let password { _ = try read(reader, bytes, password) } else { _ = try read(reader, bytes) }
      return nil
    } catch { return error }
  }

  /// Reads every truncation of an encrypted file, of which none goes unnoticed, and the file with a bit of each byte
  /// behind `start` flipped, which crashes no reader.
  static func attackSealed(_ reader: any SourceReader.Type, _ name: String, from start: Int = 0) throws {
    let bytes = try file(name)
    for count in 0..<bytes.count { #expect(failure(reader, Array(bytes.prefix(count)), small) != nil, "\(count)") }
    for place in start..<bytes.count {
      var changed = bytes
      changed[place] ^= 1 << (place % 8)
      _ = failure(reader, changed, small)
    }
  }
}
