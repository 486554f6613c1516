import Testing
import VaultSigning

@testable import VaultSSH

@Suite("A key that is added to an agent") struct AddedKeyTests {
  private func added(_ frame: [UInt8]) throws -> AddedKey {
    guard case .add(let key) = try agentRequest(frame) else { throw UnexpectedRequest() }
    return key
  }

  @Test(
    "is stepped over whatever its type, and its comment follows",
    arguments: [
      ("ssh-ed25519", "ed25519"), ("ecdsa-sha2-nistp256", "ecdsa256"), ("ecdsa-sha2-nistp384", "ecdsa384"),
      ("ecdsa-sha2-nistp521", "ecdsa521"), ("ssh-rsa", "rsa2048"),
    ])
  func types(type: String, name: String) throws {
    let frame = try RecordedConnection.frame("add " + type, type: 17)
    let key = try added(frame)
    let comment = "made for a test: " + name
    #expect(key.type == type && key.comment == comment && key.constraints == KeyConstraints())
    #expect(key.privateKey == 1..<frame.count - 4 - comment.utf8.count)
  }

  @Test("may have to go after a time, and be used with a person's leave alone") func lifetime() throws {
    let frame = try RecordedConnection.frame("add with lifetime and confirmation", type: 25)
    let constraints = try added(frame).constraints
    #expect(constraints.lifetime == 3600 && constraints.needsConfirmation && constraints.destinations == nil)
  }

  @Test("may be for certain hosts, in the bytes that it is kept in") func destinations() throws {
    let frame = try RecordedConnection.frame("add with lifetime and destinations", type: 25)
    let constraints = try added(frame).constraints
    #expect(constraints.lifetime == 3600 && !constraints.needsConfirmation)
    let destinations = try #require(constraints.destinations)
    #expect(destinations.steps.map(\.from.name) == ["", "host_a"])
    #expect(destinations.steps.map(\.to.name) == ["host_a", "host_b"])
    #expect(destinations.steps.map(\.to.user) == ["", "ro*"])
    let content = destinations.encoded()
    #expect(frame.suffix(content.count).elementsEqual(content))
    #expect(try DestinationConstraints(unsafe content.span.bytes) == destinations)
  }

  @Test("may be for a host with a certificate, which is read and matches nothing here") func authority() throws {
    let frame = try RecordedConnection.frame("add with an authority's destination", type: 25)
    let destinations = try #require(try added(frame).constraints.destinations)
    #expect(destinations.steps.flatMap(\.to.keys).map(\.isAuthority) == [true])
  }

  @Test("is refused, with a reason, when it cannot be held") func refused() throws {
    for (type, reason) in [
      ("ssh-ed25519-cert-v01@openssh.com", "certificates"), ("sk-ssh-ed25519@openssh.com", "security key"),
      ("sk-ecdsa-sha2-nistp256@openssh.com", "security key"), ("ssh-dss", "DSA"), ("ssh-ed448", "unknown type"),
      ("", "unknown type"),
    ] {
      let frame = [17] + sshBytes { for _ in 0..<8 { $0.string(type) } }
      #expect(try #require(agentRefusal(frame)).contains(reason), "\(type)")
    }
  }

  @Test("is refused when its fields are not those of its type") func fields() throws {
    func ed25519(_ publicSize: Int, _ privateSize: Int) -> [UInt8] {
      [17]
        + sshBytes {
          $0.string("ssh-ed25519")
          $0.string([UInt8](repeating: 1, count: publicSize))
          $0.string([UInt8](repeating: 1, count: privateSize))
          $0.string("")
        }
    }
    #expect(agentRefusal(ed25519(32, 64)) == nil)
    #expect(
      agentRefusal(ed25519(31, 64)) != nil && agentRefusal(ed25519(32, 32)) != nil && agentRefusal(ed25519(0, 0)) != nil
    )
    func ecdsa(_ curve: String, _ number: [UInt8]) -> [UInt8] {
      [17]
        + sshBytes {
          $0.string("ecdsa-sha2-nistp256")
          $0.string(curve)
          $0.string([4])
          $0.string(number)
          $0.string("")
        }
    }
    #expect(agentRefusal(ecdsa("nistp256", [1])) == nil)
    #expect(agentRefusal(ecdsa("nistp384", [1])) != nil)
    #expect(agentRefusal(ecdsa("nistp256", [0x80])) != nil && agentRefusal(ecdsa("nistp256", [0, 1])) != nil)
  }

  @Test("has a comment of a bounded length without NUL; another encoding is not the end of it") func comment() throws {
    let whole = try RecordedConnection.frame("add ssh-ed25519", type: 17)
    let start = Array(whole[..<(try added(whole).privateKey.upperBound)])
    #expect(try added(start + sshBytes { $0.string([0xE9]) }).comment == "\u{FFFD}")
    #expect(agentRefusal(start + sshBytes { $0.string("a\0b") }) != nil)
    #expect(agentRefusal(start + sshBytes { $0.string(String(repeating: "a", count: 1024)) }) == nil)
    #expect(agentRefusal(start + sshBytes { $0.string(String(repeating: "a", count: 1025)) }) != nil)
  }

  @Test("is refused with a constraint that is unknown, cut off or there twice, and with any in a message without")
  func constraints()
    throws
  {
    let plain = try RecordedConnection.frame("add ssh-ed25519", type: 17)
    let lifetime: [UInt8] = [1, 0, 0, 0, 9]
    #expect(agentRefusal(plain + lifetime) != nil)
    let constrained = [25] + plain.dropFirst()
    #expect(try added(constrained).constraints == KeyConstraints())
    #expect(try added(constrained + [2] + lifetime).constraints.lifetime == 9)
    for bad in [
      lifetime + lifetime, [2, 2], [1, 0, 0, 0], [0], [3, 0, 0, 0, 1], [254], [255],
      [255] + sshBytes { $0.string("unknown@example.com") },
      [255]
        + sshBytes {
          $0.string("sk-provider@openssh.com")
          $0.string("internal")
        },
      [255]
        + sshBytes {
          $0.string("associated-certs-v00@openssh.com")
          $0.boolean(true)
          $0.string("")
        },
    ] { #expect(agentRefusal(constrained + bad) != nil) }
    let destination =
      [255]
      + sshBytes {
        $0.string(DestinationConstraints.name)
        $0.string(DestinationConstraints([.init(to: .init(name: "a", keys: [.init(blob: hostBlob("a"))]))]).encoded())
      }
    #expect(try added(constrained + destination).constraints.destinations?.steps.count == 1)
    #expect(agentRefusal(constrained + destination + destination) != nil)
  }
}
