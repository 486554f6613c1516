import Foundation
import Testing
import VaultModel
import VaultTesting

@Suite("The kinds of keystore") struct KeystoreKindTests {
  @Test("vault-security(7) states the cost of each in the words a person is told") func manual() throws {
    let page = Repository.root.appending(path: "man/vault-security.7")
    let words = try String(contentsOf: page, encoding: .utf8).lowercased().split(whereSeparator: \.isWhitespace)
    let text = words.joined(separator: " ")
    for kind in KeystoreKind.allCases {
      #expect(text.contains(".it cm \(kind.rawValue) \(kind.cost.lowercased())."), "\(kind)")
      #expect(!kind.cost.contains("\n") && kind.cost.count <= 120)
    }
  }
}
