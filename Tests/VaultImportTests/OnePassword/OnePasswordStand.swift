import Foundation
import Testing
import VaultWire

@testable import VaultImport

/// The exports that the tests of 1Password's format share.
///
/// `onepassword.1pux` was made by a Python program with the library zipfile, from the description of the format
/// (https://support.1password.com/1pux-format) and the types that Bitwarden's importer knows. It has an item of each
/// category with fields of each type, in the forms that 1Password 8 writes: a document that is there, one that is
/// missing and one of more than 1 MiB, an item with its file beside it, and a file of no item.
enum OnePasswordStand {
  static func file() throws -> [UInt8] {
    let folder = try #require(Bundle.module.url(forResource: "Files", withExtension: nil))
    return [UInt8](try Data(contentsOf: folder.appendingPathComponent("onepassword.1pux")))
  }

  /// An archive with these files besides `export.data`.
  static func archive(_ data: String, _ others: [(name: String, content: String)] = []) -> [UInt8] {
    BuiltZip([BuiltZip.File("export.data", data)] + others.map { BuiltZip.File($0.name, $0.content) }).bytes
  }

  static func read(_ bytes: [UInt8]) throws(ImportFailure) -> ReadEntries {
    try ReadEntries(OnePasswordReader.self, [Source.File("a.1pux", bytes)])
  }

  /// Reads an export with one item of these members.
  static func item(_ members: String, _ files: [(name: String, content: String)] = []) throws(ImportFailure) -> [String]
  {
    try read(archive(#"{"accounts":[{"vaults":[{"attrs":{"name":"V"},"items":[{\#(members)}]}]}]}"#, files)).told
  }

  static func refusal(_ bytes: [UInt8]) -> String? {
    do throws(ImportFailure) {
      _ = try read(bytes)
      return nil
    } catch { return error.reason }
  }

  static func recognizes(_ files: [Source.File]) -> Bool {
    OnePasswordReader.recognizes(Source(files) { (_) throws(ImportFailure) in nil })
  }
}
