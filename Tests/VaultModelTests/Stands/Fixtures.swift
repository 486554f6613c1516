import Foundation
import VaultBytes
import VaultTesting

@testable import VaultModel

/// Shared means of the tests: values checked in one line, an item to search for, and the kept fuzz inputs.
enum Fixture {
  /// The bytes of one kept input.
  static func bytes(_ folder: String, _ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: Repository.root.appending(path: "Tests/Fuzz/Corpus/\(folder)/\(name)")))
  }

  /// A kept input of the fuzzer of kinds, as text.
  static func text(_ name: String) throws -> String { String(decoding: try bytes("KindFuzz", name), as: UTF8.self) }

  /// The bytes of a value's first PEM block.
  static func decoded(_ text: [UInt8]) throws -> [UInt8]? {
    let text = unsafe text.span.bytes
    guard let block = try PEM.block(in: text, from: 0) else { return nil }
    let bytes = try PEM.decode(block, in: text)
    return bytes.withBytes { span in span.byteOffsets.map { span.byte($0) } }
  }

  /// Makes an item like those in a real vault.
  static func item(
    _ name: String = "iothome/express.key", kind: ItemKind = .deviceToken,
    attributes: [String: String] = ["owner": "ana", "site": "north wing", "mark": "a\"b\\c"],
    policy: Policy = Policy(), created: Int64 = 1_000_000, modified: Int64 = 1_500_000, expires: Int64? = nil,
    version: Int = 3, size: Int = 64
  ) throws -> ItemInfo {
    ItemInfo(
      name: try ItemName(name), kind: kind, attributes: attributes, policy: policy, created: created,
      modified: modified, expires: expires,
      versions: [
        VersionInfo(number: version - 1, created: created, size: 1),
        VersionInfo(number: version, created: modified, size: size),
      ])
  }
}

extension ItemKind {
  /// Checks a value given as bytes.
  @discardableResult
  func check(_ bytes: [UInt8], _ attributes: [String: String] = [:]) throws(ValueError) -> ValueFacts {
    // UInt8 has no padding, so every byte lent is initialized; the same holds wherever the tests lend bytes.
    let value = unsafe bytes.span.bytes
    return try validate(value, attributes: attributes)
  }

  /// Checks a value given as text.
  @discardableResult
  func check(_ text: String, _ attributes: [String: String] = [:]) throws(ValueError) -> ValueFacts {
    try check(Array(text.utf8), attributes)
  }

  /// Returns true if a value is accepted.
  func accepts(_ text: String, _ attributes: [String: String] = [:]) -> Bool {
    (try? check(text, attributes)) != nil
  }
}
