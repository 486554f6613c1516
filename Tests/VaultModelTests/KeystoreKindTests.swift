import Foundation
import Testing
import VaultModel

@Suite("The kinds of keystore") struct KeystoreKindTests {
  @Test("vault-security(7) states the cost of each in the words a person is told") func manual() throws {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("man/vault-security.7").path
    let words = try String(contentsOfFile: path, encoding: .utf8).lowercased().split(whereSeparator: \.isWhitespace)
    let text = words.joined(separator: " ")
    for kind in KeystoreKind.allCases {
      #expect(text.contains(".it cm \(kind.rawValue) \(kind.cost.lowercased())."), "\(kind)")
      #expect(!kind.cost.contains("\n") && kind.cost.count <= 120)
    }
  }
}
