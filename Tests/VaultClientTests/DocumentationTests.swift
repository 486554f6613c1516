import Foundation
import Testing
import VaultBytes
import VaultClient
import VaultTesting
import VaultWire

// begin of the errors
func readKey(from vault: Vault, use: (RawSpan) -> Void) throws(ClientError) {
  // The documentation page shows these lines.
  do {
    let key = try vault.get("iothome/express.key")
    key.withBytes { use($0) }
  } catch .fault(.locked) {
    // Come back after an unlock, or wait for it: get(_:wait:).
  }
}
// end of the errors

@Suite struct DocumentationTests {
  private func lines(_ path: String) throws -> [String] {
    let file = Repository.root.appending(path: path)
    return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
  }

  /// Returns the code blocks of the page.
  private func blocks() throws -> [[String]] {
    let page = try lines("Sources/VaultClient/VaultClient.docc/VaultClient.md")
    return page.split { $0.hasPrefix("```") }.enumerated().filter { $0.offset % 2 == 1 }.map { Array($0.element) }
  }

  @Test("The poller on the documentation page is the one compiled here")
  func matchesPoller() throws {
    #expect(try blocks()[0] == lines("Tests/VaultClientTests/WeatherPoller.swift").dropLast())
  }

  @Test("Its other lines of code are among those compiled here")
  func matchesErrors() throws {
    let file = try lines("Tests/VaultClientTests/DocumentationTests.swift")
    let own = file.map { $0.trimmingCharacters(in: .whitespaces) }
    let start = try #require(own.firstIndex(of: "// begin of the errors"))
    let end = try #require(own.firstIndex(of: "// end of the errors"))
    let code = try blocks()[1].map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(own[start..<end].joined(separator: "\n").contains(code.joined(separator: "\n")))
    #expect(try blocks().count == 2)
  }

  @Test("The poller reports with its key, and with the new one when it changed")
  func polls() async throws {
    let changed = Gate()
    let server = try FakeServer { peer, _ in
      while let request = try peer.read() {
        if request.hasPrefix("Get") {
          let key = changed.isOpen ? "second" : "first"
          peer.reply(#"{"name":"owm/appid","version":1,"value":"\#(key)"}"#)
        } else {
          peer.reply(#"{"event":"state","time":0,"state":"unlocked","cause":"c"}"#, continues: true)
          changed.wait()
          peer.reply(#"{"event":"item","time":1,"name":"owm/appid","change":"updated"}"#, continues: true)
        }
      }
    }
    defer { server.close() }
    let (keys, continuation) = AsyncStream<String>.makeStream()
    let vault = server.vault.location
    let poller = Task {
      try await pollWeather(with: Vault(at: vault)) { key in continuation.yield(key) }
    }
    var seen: [String] = []
    for await key in keys {
      if seen.last != key { seen.append(key) }
      changed.open()
      if key == "second" { break }
    }
    poller.cancel()
    _ = await poller.result
    #expect(seen == ["first", "second"])
    #expect(server.heard.contains("Get{name:owm/appid,wait_ms:3600000,reason:current weather}"))
  }
}
