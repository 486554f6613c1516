import Foundation
import Testing
import VaultModel

@Suite("The kept fuzz inputs")
struct CorpusTests {
  private static func files(_ folder: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: Fixture.corpus(folder), includingPropertiesForKeys: nil)
  }

  @Test("Every query is read or refused at a place inside it")
  func queries() throws {
    let files = try Self.files("predicate")
    #expect(files.count >= 20)
    let item = try Fixture.item()
    var read = 0
    for file in files {
      let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
      do throws(QueryError) {
        let query = try Query(parsing: text)
        _ = query.matches(item, now: 0)
        read += 1
      } catch {
        #expect((0...text.utf8.count).contains(error.position), "\(file.lastPathComponent)")
      }
    }
    #expect(read >= 10 && read < files.count)
  }

  @Test("Every value is checked as every kind without a crash")
  func values() throws {
    let files = try Self.files("kind")
    #expect(files.count >= 20)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      for kind in ItemKind.allCases {
        for attributes in [[:], ["ssid": "home"], ["ssid": "home", "security": "SAE", "pattern": "##-#"]] {
          do throws(ValueError) { try kind.check(bytes, attributes) } catch { #expect(!error.reason.isEmpty) }
        }
      }
    }
  }

  @Test("A kept value named for its kind is one", arguments: ItemKind.allCases)
  func named(kind: ItemKind) throws {
    let prefix = kind.rawValue.split(separator: "-").first.map(String.init) ?? ""
    for file in try Self.files("kind") {
      let name = file.lastPathComponent
      guard name.hasPrefix(prefix), !name.contains("cut"), kind != .password else { continue }
      let bytes = [UInt8](try Data(contentsOf: file))
      #expect(throws: Never.self, "\(name)") { try kind.check(bytes, ["ssid": "home"]) }
    }
  }
}
