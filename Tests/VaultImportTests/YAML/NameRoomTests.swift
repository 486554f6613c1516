import Testing
import VaultBytes
import VaultWire

@testable import VaultImport

@Suite("The names that lead to values") struct NameRoomTests {
  private static let long = String(repeating: "k", count: 60 << 10)

  private func failure(_ format: FileFormat, _ path: String, _ text: String) -> ImportFailure? {
    do throws(ImportFailure) {
      let source = Source([Source.File(path, Array(text.utf8))]) { (_) throws(ImportFailure) in nil }
      var sink = NoEntries()
      try format.reader.read(source, into: &sink)
      return nil
    } catch { return error }
  }

  private struct NoEntries: EntrySink {
    mutating func begin(_ format: ImportedFormat) throws(ImportFailure) {}
    mutating func add(_ entry: Entry) throws(ImportFailure) {}
  }

  private static func isOfNames(_ failure: ImportFailure?) -> Bool {
    failure?.code == .tooLarge && failure?.reason.contains("the names that lead to the values") == true
  }

  /// A text of less than 64 KiB with its values below one key, which a short one and then a long one is.
  private static func texts(_ text: (_ key: String, _ values: Int) -> String) -> (fits: String, large: String) {
    (text(String(long.prefix(1 << 10)), 2500), text(long, 2500))
  }

  private static func list(_ count: Int) -> String { Array(repeating: "1", count: count).joined(separator: ",") }

  @Test("have room for all values together, in YAML and in JSON") func documents() throws {
    let texts = [
      Self.texts { key, count in "? \(key)\n: [\(Self.list(count))]\n" },
      Self.texts { key, count in #"{"\#(key)":[\#(Self.list(count))]}"# },
      // Two keys with half of it each, and two documents.
      Self.texts { key, count in
        "? \(key)\n: [\(Self.list(count / 2))]\n? \(key)2\n: {a: [\(Self.list(count / 2))]}\n"
      },
      Self.texts { key, count in
        "? \(key)\n: [\(Self.list(count / 2))]\n---\n- ? \(key)\n  : [\(Self.list(count / 2))]\n"
      },
    ]
    for (fits, large) in texts {
      #expect(large.utf8.count < 128 << 10)
      #expect(try !YAMLDocuments.all(Array(fits.utf8)).isEmpty)
      do throws(ImportFailure) {
        _ = try YAMLDocuments.all(Array(large.utf8))
        Issue.record("there was room")
      } catch { #expect(Self.isOfNames(error), "\(error)") }
    }
  }

  @Test("count at each place for which an alias stands") func aliases() {
    let key = "? &k \(Self.long)\n: 1\n"
    let keys = "a:\n" + Array(repeating: "  - {*k : 1}\n", count: 2500).joined()
    let elements = Array(repeating: "*a", count: 2500).joined(separator: ",")
    let values = "a: &a\n  ? \(Self.long)\n  : 1\nb: [\(elements)]\n"
    for text in [key + keys, values] {
      do throws(ImportFailure) {
        _ = try YAMLDocuments.all(Array(text.utf8))
        Issue.record("there was room")
      } catch { #expect(Self.isOfNames(error), "\(error)") }
    }
  }

  @Test("have room in the files of gateways, and in sections") func formats() {
    let bridge = Self.texts { key, count in
      #"{"bridge":{"pin":"1"},"platforms":[{"name":"\#(key)","tokens":[\#(Self.list(count))]}]}"#
    }
    let secrets = Self.texts { key, count in "? \(key)\n: [{a: 1}, \(Self.list(count))]\n" }
    let keys = Array(repeating: "k=v\n", count: 2500).joined()
    let profiles = Self.texts { key, _ in "[profile \(key)]\n\(keys)" }
    let network = Self.texts { key, _ in "[connection]\ntype=wifi\n[\(key)]\n\(keys)" }
    let blocks = Self.texts { key, _ in "\(key)={\n\(keys)}\nnetwork={\nssid=\"a\"\npsk=\"12345678\"\n}\n" }
    for (format, path, texts) in [
      (FileFormat.homebridge, "config.json", bridge), (.homeAssistant, "secrets.yaml", secrets),
      (.aws, ".aws/config", profiles), (.networkManager, "a.nmconnection", network),
      (.wpaSupplicant, "wpa_supplicant.conf", blocks),
    ] {
      let (fits, large) = (failure(format, path, texts.fits), failure(format, path, texts.large))
      #expect(fits == nil, "\(format)")
      #expect(Self.isOfNames(large), "\(format): \(String(describing: large))")
    }
  }

  @Test("that people give are cut before they are parts of others") func given() throws {
    let name = String(repeating: "n", count: 1 << 20)
    let more = (0..<2000).map { #","x\#($0)":1"# }.joined()
    let text = #"""
      {"encrypted":false,"items":[{"type":1,"name":"a","login":{"password":"p"},
      "fields":[{"name":"\#(name)","value":"v","type":0\#(more)}]}]}
      """#
    let file = Array(text.utf8)
    let entries = try RoundTrip.entries(in: file, .bitwarden, password: nil)
    #expect(entries[0].fields.count > 2000 && entries[0].fields.allSatisfy { $0.name.utf8.count < 5000 })
  }
}
