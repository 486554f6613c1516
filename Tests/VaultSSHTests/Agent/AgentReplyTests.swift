import Testing
import VaultSigning

@testable import VaultSSH

@Suite("An agent's answers") struct AgentReplyTests {
  @Test("are byte for byte those of OpenSSH's agent") func recorded() throws {
    let keys = try RecordedConnection.named("list").exchanges[0].reply
    let bytes = unsafe keys.span.bytes
    var reader = SSHReader(5..<keys.count)
    var identities: [AgentReply.Identity] = []
    while !reader.isAtEnd {
      identities.append(.init(key: try reader.array(bytes), comment: try reader.text(bytes)))
    }
    #expect(identities.count == 5 && AgentReply.identities(identities).encoded() == sshBytes { $0.string(keys) })
    let signature = try RecordedConnection.named("login rsa").exchanges[2].reply
    let blob = Array(signature[5...])
    #expect(AgentReply.signature(blob).encoded() == sshBytes { $0.string(signature) })
  }

  @Test("have the numbers of RFC 9987") func numbers() {
    #expect(AgentReply.failure.encoded() == [0, 0, 0, 1, 5])
    #expect(AgentReply.success.encoded() == [0, 0, 0, 1, 6])
    #expect(AgentReply.identities([]).encoded() == [0, 0, 0, 5, 12, 0, 0, 0, 0])
    #expect(AgentReply.extensionFailure.encoded() == [0, 0, 0, 1, 28])
    let names = ["query", "a", "é"]
    #expect(
      AgentReply.extensions(Array(names.dropFirst())).encoded()
        == sshBytes { $0.string([29] + sshBytes { for name in names { $0.string(name) } }) })
  }

  @Test("list no more keys than the client takes, by number and by size") func limits() {
    func list(_ count: Int, commentSize: Int) -> (frame: Int, keys: Int) {
      let identity = AgentReply.Identity(key: [1, 2, 3], comment: String(repeating: "c", count: commentSize))
      let frame = AgentReply.identities(Array(repeating: identity, count: count)).encoded()
      return (frame.count - 4, Int(frame[7]) << 8 | Int(frame[8]))
    }
    #expect(list(2048, commentSize: 1).keys == 2048 && list(2049, commentSize: 1).keys == 2048)
    // Each key takes 1024 bytes; the list's own five bytes leave no room for the last key.
    let (frame, keys) = list(256, commentSize: 1013)
    #expect(keys == 255 && frame == 5 + 255 << 10)
    #expect(list(1, commentSize: AgentRequest.maximumFrame - 16) == (AgentRequest.maximumFrame, 1))
    #expect(list(1, commentSize: AgentRequest.maximumFrame - 15) == (5, 0))
  }

  @Test("list the keys that come last before any others, by number and by size") func places() {
    func keys(_ count: Int, commentSize: Int) -> [AgentReply.Identity] {
      Array(repeating: .init(key: [1, 2, 3], comment: String(repeating: "c", count: commentSize)), count: count)
    }
    let short = keys(2100, commentSize: 1)
    #expect(AgentReply.fitting(short) == 2048 && AgentReply.fitting(short, before: keys(64, commentSize: 1)) == 1984)
    #expect(AgentReply.fitting(short, before: keys(2048, commentSize: 1)) == 0)
    // Each key takes 1024 bytes, as in the test before this one.
    let long = keys(300, commentSize: 1013)
    #expect(AgentReply.fitting(long, before: keys(64, commentSize: 1013)) == 255 - 64)
    for count in [0, 1, 64] {
      let others = keys(count, commentSize: 1013)
      let listed = long.prefix(AgentReply.fitting(long, before: others)) + others
      #expect(AgentReply.fitting(Array(listed)) == listed.count)
    }
  }
}
