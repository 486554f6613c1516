import Foundation
import Testing
import VaultWire

@testable import VaultImport

/// The files and the reading that the tests of Bitwarden's exports share.
///
/// The files were made by a Python program from the published format, with the libraries cryptography and argon2-cffi.
/// They hold what Bitwarden's own programs write (libs/common/src/models/export in bitwarden/clients), in their order.
enum ExportStand {
  /// The password of `bitwarden-pbkdf2.json`, and that of `bitwarden-argon2id.json`.
  static let passwords = (pbkdf2: "correct horse", argon2id: "Zürich 🔑")

  static func file(_ name: String) throws -> [UInt8] {
    let folder = try #require(Bundle.module.url(forResource: "Files", withExtension: nil))
    return [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
  }

  /// Reads an export; the answers are given to the questions for a password, one after the other.
  static func read(_ bytes: [UInt8], answers: [String]) throws(ImportFailure) -> ReadEntries {
    var left = answers[...]
    return try ReadEntries(BitwardenReader.self, [Source.File("export.json", bytes)]) { _ in
      left.popFirst().map { Array($0.utf8) }
    }
  }

  static func read(_ bytes: [UInt8], _ answers: String...) throws(ImportFailure) -> ReadEntries {
    try read(bytes, answers: answers)
  }

  static func read(_ text: String) throws(ImportFailure) -> ReadEntries { try read(Array(text.utf8), answers: []) }

  /// The failure with which the reading of a text ends; nil if it does not.
  static func failure(_ bytes: [UInt8], _ answers: String...) -> ImportFailure? {
    do throws(ImportFailure) {
      _ = try read(bytes, answers: answers)
      return nil
    } catch {
      return error
    }
  }

  static func recognizes(_ bytes: [UInt8]) -> Bool {
    BitwardenReader.recognizes(Source([Source.File("export.json", bytes)]) { _ in nil })
  }

  /// An export with one item of these members.
  static func export(_ item: String, folders: String = "[]") -> String {
    #"{"encrypted":false,"folders":\#(folders),"items":[{\#(item)}]}"#
  }
}

extension Entry {
  /// The fields as texts, `NAME [ROLE] VALUE`, without those that every entry has.
  var exportLines: [String] {
    fields.filter { ![.title, .folder, .identifier, .created, .modified].contains($0.role) }
      .map { "\($0.name) [\($0.role.rawValue)] \($0.refusal ?? String(decoding: $0.value, as: UTF8.self))" }
  }
}
