import Foundation
import Testing
import VaultWire

@testable import VaultImport

extension ReadEntries {
  /// Reads a database with one password, which is also the answer to each further question.
  init(database bytes: [UInt8], password: String? = "pw", keyFile: [UInt8]? = nil) throws(ImportFailure) {
    try self.init(KDBXReader.self, [Source.File("some.kdbx", bytes)]) { question in
      switch question.kind {
      case .password: question.isAgain ? nil : password.map { Array($0.utf8) }
      case .keyFile: keyFile
      }
    }
  }

  /// Reads a document in an unprotected database.
  init(
    document body: String, meta: String = "", binaries: [[UInt8]] = [], isCompressed: Bool = false
  ) throws(ImportFailure) {
    let document = SealedDatabase.document(body, meta: meta)
    try self.init(database: SealedDatabase.bytes(document, binaries: binaries, isCompressed: isCompressed))
  }
}

enum KDBXStand {
  /// The reason for which the bytes cannot be read; nil if they can.
  static func failure(_ bytes: [UInt8], password: String? = "pw") -> ImportFailure? {
    do throws(ImportFailure) {
      _ = try ReadEntries(database: bytes, password: password)
      return nil
    } catch { return error }
  }

  /// A file that another program made.
  static func file(_ name: String) throws -> [UInt8] {
    let url = try #require(Bundle.module.url(forResource: "Files/\(name)", withExtension: nil))
    return Array(try Data(contentsOf: url))
  }
}

extension Entry {
  /// The texts of the fields with a name or a role.
  func texts(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.text) }
  func texts(_ role: ImportedField.Role) -> [String] { fields.filter { $0.role == role }.map(\.text) }

  /// The fields as `role name=text`, in their order, without title, folder, identification and times.
  var lines: [String] {
    let left: Set<ImportedField.Role> = [.title, .folder, .identifier, .created, .modified]
    return fields.filter { !left.contains($0.role) }.map { field in
      "\(field.role.rawValue) \(field.name)=\(field.refusal.map { "(\(field.size)) \($0)" } ?? field.text)"
    }
  }
}

extension Field {
  var text: String { String(decoding: value, as: UTF8.self) }
}
