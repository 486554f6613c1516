import Glibc
import Testing
import VaultModel

@testable import VaultDaemon
@testable import VaultService

@Suite("An agent's connection") struct AttendTests {
  @Test("is cut off where it does not read, and costs the others nothing") func deaf() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    try stand.on { client in
      client.call("Attend", #"{"faces":["terminal"]}"#, more: true)
      #expect(client.messages().count == 1 && client.door.attendance.agents.count == 1)
      client.stopReading()
      let text = String(repeating: "x", count: 1000)
      for _ in 0..<10_000 where client.isOpen { client.door.attendance.happened(.integrityFailed(text)) }
      #expect(!client.isOpen && client.door.attendance.agents.isEmpty)
    }
  }

  @Test("ends with a lock that hides names where it has not read an inquiry, which goes as well") func unread() throws {
    let stand = try ConnectionStand.unlocked("hide-names = true")
    defer { stand.close() }
    try stand.on { client in
      client.call("Attend", #"{"faces":["terminal"]}"#, more: true)
      client.stopReading()
      let agent = try #require(client.door.attendance.agents.first)
      let told = ToldInquiry(number: QuestionNumber(1), about: "presence", name: "bank")
      client.door.attendance.send(.inquiry(told), to: agent)
      let outbox = try #require(client.connection.outbox)
      #expect(client.isOpen && !outbox.isEmpty)
      client.vault.lock(because: .asked)
      #expect(!client.isOpen && outbox.isEmpty && client.door.attendance.agents.isEmpty)
    }
  }

  @Test("is none where the call takes one answer alone, or names a face in other letters") func refused() throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    try stand.on { client in
      client.call("Attend", #"{"faces":["terminal"]}"#)
      let refused = client.messages()
      #expect(refused.count == 1 && refused[0].contains("ExpectedMore"), "\(refused)")
      client.call("Attend", #"{"faces":["no such Face"]}"#, more: true)
      let invalid = client.messages()
      #expect(invalid.count == 1 && invalid[0].contains("InvalidParameter"), "\(invalid)")
      #expect(client.isOpen && client.door.attendance.agents.isEmpty)
    }
  }

  @Test("tells of the terminal and the processes before it, and never more than eight") func ancestry() throws {
    let found = Ancestry.of(getpid())
    #expect((1...8).contains(found.chain.count) && found.chain.allSatisfy { !$0.isEmpty })
    #expect(Ancestry.of(-1).chain.isEmpty)
    #expect(Ancestry.path(ofTerminal: 0) == nil)
    #expect(Ancestry.path(ofTerminal: 136 << 8 | 3) == "/dev/pts/3")
    #expect(Ancestry.path(ofTerminal: 136 << 8 | 0x2C | 1 << 20) == "/dev/pts/300")
    #expect(Ancestry.path(ofTerminal: 4 << 8 | 1) == "/dev/tty1")
    #expect(Ancestry.path(ofTerminal: 4 << 8 | 64) == "/dev/ttyS0")
    #expect(Ancestry.path(ofTerminal: 8 << 8) == nil)
  }
}
