import Testing
import VaultModel
import VaultSigning

@testable import VaultSSH

@Suite("Requests to an agent") struct AgentRequestTests {
  @Test("all that OpenSSH's programs send are read, but for certificates") func recorded() throws {
    for connection in RecordedConnection.all {
      for (index, exchange) in connection.exchanges.enumerated() {
        let reason = agentRefusal(exchange.request)
        let isCertificate = connection.name == "add with certificate" && index == 1
        #expect((reason != nil) == isCertificate, "\(connection): \(reason ?? "")")
        #expect(reason?.contains("certificates are not held") != false)
      }
    }
  }

  @Test("those without content are told apart by their type") func types() throws {
    #expect(try agentRequest(try RecordedConnection.frame("list", type: 11)) == .list)
    #expect(try agentRequest(try RecordedConnection.frame("remove all", type: 19)) == .removeAll)
    for type in [1, 3, 7, 8, 9, 20, 21, 24, 26, 0, 2, 10, 255] as [UInt8] {
      #expect(try agentRequest([type, 1, 2, 3]) == .unsupported(type))
    }
  }

  @Test("a key to remove is its blob, and nothing follows it") func remove() throws {
    let frame = try RecordedConnection.frame("remove", type: 18)
    guard case .remove(let key) = try agentRequest(frame) else { throw UnexpectedRequest() }
    #expect(frame == [18] + sshBytes { $0.string(key) })
    #expect(try KeyBlob.type(key) == "ecdsa-sha2-nistp384")
    #expect(agentRefusal(frame + [0]) != nil)
  }

  @Test("a passphrase stays where it is", arguments: [("lock", 22), ("unlock", 23)])
  func lock(name: String, type: UInt8) throws {
    let frame = try RecordedConnection.frame(name, type: type)
    let place = 5..<frame.count
    #expect(try agentRequest(frame) == (type == 22 ? .lock(place) : .unlock(place)))
    #expect(String(decoding: frame[place], as: UTF8.self) == "a passphrase")
  }

  @Test("a signature is asked for with a key, data and flags, unknown ones among them") func sign() throws {
    let frame = try RecordedConnection.frame("login rsa", type: 13)
    guard case .sign(let asked) = try agentRequest(frame) else { throw UnexpectedRequest() }
    #expect(try KeyBlob.type(asked.key) == "ssh-rsa" && asked.flags == .rsaSHA512)
    #expect(asked.data == 9 + asked.key.count..<frame.count - 4)
    guard case .sign(let other) = try agentRequest(frame.dropLast(4) + [0x80, 0, 0, 6]) else {
      throw UnexpectedRequest()
    }
    #expect(other.flags.isSuperset(of: [.rsaSHA256, .rsaSHA512]) && other.flags.rawValue == 0x8000_0006)
  }

  @Test("an extension is known by its name; what an unknown one says is its own business") func extensions() throws {
    let query = [27] + sshBytes { $0.string("query") }
    #expect(try agentRequest(query) == .query)
    #expect(agentRefusal(query + [0]) != nil)
    let other = [27] + sshBytes { $0.string("other@example.com") } + [1, 2, 3]
    #expect(try agentRequest(other) == .unknownExtension("other@example.com"))
    #expect(agentRefusal([27] + sshBytes { $0.string([0xFF]) }) != nil)
    #expect(agentRefusal([27] + sshBytes { $0.string(String(repeating: "x", count: 257)) }) != nil)
    #expect(agentRefusal([27] + sshBytes { $0.string("query\0") }) != nil)
  }

  @Test("a malformed bind is told apart, because it was an attempt") func malformedBind() throws {
    let frame = try RecordedConnection.frame("login ed25519", type: 27)
    guard case .bind(let bind?) = try agentRequest(frame) else { throw UnexpectedRequest() }
    #expect(bind.sessionID.count == 64 && !bind.isForwarding && bind.signedBytes == bind.sessionID)
    #expect(try KeyBlob.type(bind.hostKey) == "ssh-ed25519" && bind.signature.count == 83)
    for count in 29..<frame.count { #expect(try agentRequest(Array(frame.prefix(count))) == .bind(nil)) }
    for count in 0..<29 { #expect(agentRefusal(Array(frame.prefix(count))) != nil) }
    #expect(try agentRequest(frame + [0]) == .bind(nil))
    #expect(try agentRequest(frame.dropLast() + [2]) == .bind(nil))
  }

  @Test("a frame has a type, and 256 KiB at most") func size() throws {
    #expect(agentRefusal([]) != nil)
    let rest = AgentRequest.maximumFrame - 5
    let longest = [22] + sshBytes { $0.string([UInt8](repeating: 1, count: rest)) }
    #expect(try agentRequest(longest) == .lock(5..<5 + rest))
    #expect(
      agentRefusal([22] + sshBytes { $0.string([UInt8](repeating: 1, count: rest + 1)) }) == "a frame is too long")
  }
}
