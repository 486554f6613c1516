import Testing
import VaultSigning

@testable import VaultSSH

@Suite("Damaged requests to an agent") struct AgentMutationTests {
  /// Connections with a frame of each kind, and with keys of each type in each kind.
  private static let frames = RecordedConnection.all.filter { connection in
    [
      "add ecdsa-sha2-nistp256", "add ssh-ed25519", "add ssh-rsa", "add with lifetime and confirmation",
      "add with lifetime and destinations", "remove", "lock", "login ed25519", "login rsa", "login without host key",
      "login by certificate ed25519", "ssh-keygen -Y sign, git, sha512, ed25519", "from b to c",
    ].contains(connection.name)
  }

  @Test("cut off anywhere they are refused, or are a bind that failed", arguments: frames)
  func truncated(connection: RecordedConnection) throws {
    for frame in connection.exchanges.map(\.request) where agentRefusal(frame) == nil && frame.count > 1 {
      let whole = try agentRequest(frame)
      for count in 0..<frame.count {
        let cut = Array(frame.prefix(count))
        _ = unsafe exerciseAgentFrame(cut.span.bytes)
        guard let read = try? agentRequest(cut) else { continue }
        switch (whole, read) {
        case (_, .bind(nil)), (_, .unsupported): continue
        // Constraints have no count before them, and end only with the frame.
        case (.add(let whole), .add(let cut)) where frame[0] == 25:
          #expect(cut.constraints != whole.constraints && cut.privateKey == whole.privateKey)
        default: Issue.record("\(count) bytes of \(connection) are \(read)")
        }
      }
    }
  }

  @Test("with any bit flipped they are refused, or read to the end without a trap", arguments: frames)
  func flipped(connection: RecordedConnection) throws {
    var refused = 0
    for frame in connection.exchanges.map(\.request) {
      for bit in 0..<frame.count * 8 {
        var changed = frame
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        if unsafe !exerciseAgentFrame(changed.span.bytes) { refused += 1 }
      }
    }
    #expect(refused > 0)
  }

  @Test("with a huge number at any place they are refused, or read to the end without a trap", arguments: frames)
  func hostile(connection: RecordedConnection) {
    for frame in connection.exchanges.map(\.request) where frame.count > 4 {
      for place in 1...frame.count - 4 {
        for number in [0, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, UInt32(frame.count), 0xFFFF_FFFC] as [UInt32] {
          let changed = frame[..<place] + sshBytes { $0.uint32(number) } + frame[(place + 4)...]
          _ = unsafe exerciseAgentFrame(Array(changed).span.bytes)
        }
      }
    }
  }

  @Test("with any length changed they are refused, or are about another key", arguments: frames)
  func lengths(connection: RecordedConnection) throws {
    for frame in connection.exchanges.map(\.request) {
      let whole = try agentRequest(frame)
      for place in lengths(in: frame) {
        for bit in 0..<32 {
          var changed = frame
          changed[place + 3 - bit / 8] ^= 1 << UInt8(bit % 8)
          guard let read = try? agentRequest(changed) else { continue }
          switch (whole, read) {
          // A key may swallow the bytes behind it if another length fits by chance; nobody has the resulting key.
          case (.sign(let whole), .sign(let read)): #expect(read.key != whole.key)
          case (.add(let whole), .add(let read)): #expect(read.privateKey != whole.privateKey)
          case (.bind, .bind(let bind)): #expect(bind == nil)
          case (.bind, .unknownExtension(let name)): #expect(SessionBind.name.hasPrefix(name))
          default: Issue.record("bit \(bit) at \(place) of \(connection) makes \(read)")
          }
        }
      }
    }
  }

  /// Returns the places of the lengths that follow each other in a frame, up to the first field that is no string.
  private func lengths(in frame: [UInt8]) -> [Int] {
    let count =
      switch frame.first {
      case 13: 2
      case 17, 25: [18: 5, 11: 4, 19: 5, 7: 8][Int(frame[4])] ?? 0
      case 27: 4
      case 18, 22, 23: 1
      default: 0
      }
    let bytes = unsafe frame.span.bytes
    var reader = SSHReader(1..<frame.count)
    var places: [Int] = []
    for _ in 0..<count {
      places.append(reader.offset)
      guard (try? reader.string(bytes)) != nil else { break }
    }
    return places
  }

  @Test(
    "what is signed is refused with any byte more or less",
    arguments: [
      "login ed25519", "login rsa", "login without host key", "login by certificate ecdsa",
      "ssh-keygen -Y sign, git, sha512, ed25519",
    ])
  func signed(name: String) throws {
    let data = try RecordedConnection.data(name)
    func isRead(_ data: [UInt8]) -> Bool {
      let bytes = unsafe data.span.bytes
      return (try? UserAuthentication(bytes)) != nil || (try? SSHSignatureBlob(bytes)) != nil
    }
    #expect(isRead(data))
    for count in 0..<data.count { #expect(!isRead(Array(data.prefix(count)))) }
    for byte in [0, 1, 0xFF] as [UInt8] { #expect(!isRead(data + [byte]) && !isRead([byte] + data)) }
  }
}
