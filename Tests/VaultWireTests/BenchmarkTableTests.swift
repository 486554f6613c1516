import Foundation
import Testing
import VaultTesting
import VaultWire

@Suite("The benchmark of all methods") struct BenchmarkTableTests {
  @Test("names each of them, and no other, and what other parts measure stands there") func methods() throws {
    let folder = Repository.root.appending(path: "Tests/Benchmarks")
    let text = try String(contentsOf: folder.appending(path: "methods.py"), encoding: .utf8)
    var named: [String] = []
    for table in ["\nCALLS = {", "\nEXCHANGES = {"] {
      let start = try #require(text.range(of: table))
      let end = try #require(text[start.upperBound...].range(of: "\n}\n"))
      let rows = text[start.upperBound..<end.lowerBound]
      for match in rows.matches(of: /"([A-Z][A-Za-z]+)": (?:\{|\(|[a-z_]+|"([a-z ]+)")/) {
        let method = String(match.1)
        named.append(method)
        // A method that other parts measure is called there.
        for part in (match.2 ?? "").split(separator: " ") {
          let source = try String(contentsOf: folder.appending(path: part + ".py"), encoding: .utf8)
          #expect(source.contains("\"\(method)\"") || source.contains("Vault.\(method)\""), "\(method) in \(part)")
        }
      }
    }
    let interface = try VarlinkDefinition("\(VaultInterface.description)")
    #expect(named.sorted() == interface.methods.sorted())
  }
}
