import Testing
import VaultWire

/// Sample frames, as clients and the daemon really send them.
enum Samples {
  static let frames: [String] = [
    #"{"method":"io.vaultd.Vault.Get","parameters":{"name":"owm/appid","wait_ms":30000,"interactive":true}}"#,
    #"{"parameters":{"name":"owm/appid","version":3,"value":"p\u00e4ss\"w\\o\u0072d 😹 \ud83d\ude39"}}"#,
    #"{"error":"io.vaultd.Vault.Locked","parameters":{"state":"locked","cause":"idle"}}"#,
    #"{"method":"io.vaultd.Vault.Set","parameters":{"name":"a/b","data":"AAECAw==","attributes":{"owner":"ana","#
      + #""x":"\n"},"expires":1.5e9,"update":false,"kind":null}}"#,
    #"{"parameters":{"items":[{"name":"a","n":[1,-2.5e-3,[],{}]}],"next":null},"continues":true}"#,
  ]
}

@Suite struct MutationTests {
  @Test("Every truncation of a frame is an error", arguments: Samples.frames)
  func refusesTruncations(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(refusal(bytes) == nil)
    for count in 0..<bytes.count { #expect(refusal(Array(bytes[..<count])) != nil, "\(count)") }
  }

  @Test(
    "Every flipped bit, and every byte turned into one that means something, gives an error or a sound frame",
    arguments: Samples.frames)
  func survivesChangedBytes(_ text: String) {
    let bytes = Array(text.utf8)
    let meaningful = Array("\0\"\\{}[]:,-0e".utf8) + [0x80, 0xC2, 0xED, 0xF4, 0xFF]
    var accepted = 0
    var tried = 0
    for index in bytes.indices {
      let flipped = (0..<8).map { bytes[index] ^ 1 << UInt8($0) }
      for value in flipped + meaningful where value != bytes[index] {
        var changed = bytes
        changed[index] = value
        tried += 1
        if exerciseFrame(unsafe changed.span.bytes) { accepted += 1 }
      }
    }
    // A changed letter in a string is accepted, a changed bracket is not.
    #expect(accepted > 0 && accepted < tried)
  }

  @Test("Every byte left out or doubled gives an error or a sound frame", arguments: Samples.frames)
  func survivesShiftedBytes(_ text: String) {
    let bytes = Array(text.utf8)
    var refused = 0
    for index in bytes.indices {
      var shorter = bytes
      shorter.remove(at: index)
      var longer = bytes
      longer.insert(bytes[index], at: index)
      for changed in [shorter, longer] where !exerciseFrame(unsafe changed.span.bytes) { refused += 1 }
    }
    #expect(refused > 0)
  }
}
