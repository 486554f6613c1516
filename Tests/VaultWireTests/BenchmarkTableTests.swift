import Foundation
import Testing
import VaultTesting
import VaultWire

@Suite("The benchmark of all methods") struct BenchmarkTableTests {
  @Test("names each of them, and no other: it ends in an error where it does not") func methods() throws {
    let path = Repository.root.appending(path: "Tests/Benchmarks/methods.py")
    let text = try String(contentsOf: path, encoding: .utf8)
    let start = try #require(text.range(of: "\nCALLS = {"))
    let end = try #require(text[start.upperBound...].range(of: "\n}\n"))
    let table = text[start.upperBound..<end.lowerBound]
    let named = table.matches(of: /"([A-Z][A-Za-z]+)": ["{]/).map { String($0.1) }
    let interface = try VarlinkDefinition("\(VaultInterface.description)")
    #expect(named.sorted() == interface.methods.sorted())
  }
}
