import Testing
import VaultBytes
import VaultModel

@testable import VaultSSH

@Suite("The names of a host key") struct KnownHostsTests {
  private static let key = hostBlob("a")
  private static let line = "ssh-ed25519 \(key.base64)"

  private func find(_ text: String, candidates: [String] = [], key: [UInt8] = key) -> KnownHosts {
    let text = Array(text.utf8)
    return KnownHosts(of: key, in: unsafe text.span.bytes, candidates: candidates)
  }

  private func names(_ text: String, candidates: [String] = []) -> [String] {
    find(text, candidates: candidates).names
  }

  /// Returns the key in the first line of `text` that begins with `host`.
  private func recordedKey(_ host: String, in text: String) throws -> [UInt8] {
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(host) })
    return try #require([UInt8](base64: line.split(separator: " ")[2]))
  }

  @Test("are those of a file as ssh writes it, for every type of key") func recorded() throws {
    let text = RecordedConnection.text("known_hosts")
    for host in ["host_b", "host_c", "host_x", "host_r"] {
      #expect(find(text, key: try recordedKey(host, in: text)).names == [host])
    }
    let key = try recordedKey("host_a", in: text)
    #expect(find(text, key: key).names == ["host_a", "[Host_p.example]:2222", "10.0.0.1"])
    // The host key to which a session was bound.
    guard case .bind(let bind?) = try agentRequest(try RecordedConnection.frame("login ed25519", type: 27)) else {
      throw UnexpectedRequest()
    }
    #expect(bind.hostKey == key)
    let authority = try #require(text.split(separator: "\n").first { $0.hasPrefix("@") }?.split(separator: " ")[3])
    #expect(find(text, key: try #require([UInt8](base64: authority))).isAuthority)
  }

  @Test("an authority's line names no host, and a revoked key is revoked whatever its host") func markers() {
    let authority = find("@cert-authority *.example \(Self.line)", candidates: ["a.example"])
    #expect(authority.isAuthority && !authority.isRevoked && authority.names.isEmpty)
    let revoked = find("@revoked * \(Self.line)\na \(Self.line)")
    #expect(revoked.isRevoked && !revoked.isAuthority && revoked.names == ["a"])
    #expect(find("@revoked other.example \(Self.line)").isRevoked)
    #expect(find("@other * \(Self.line)\n@ * \(Self.line)\n@revoked @revoked * \(Self.line)") == find(""))
  }

  @Test("hashed ones are found by candidates alone, in any case") func hashed() throws {
    let text = RecordedConnection.text("known_hosts-hashed")
    let key = try recordedKey("|1|", in: text)
    #expect(find(text, key: key).names.isEmpty)
    let candidates = ["host_x", "10.0.0.1", "[Host_p.example]:2222"]
    #expect(find(text, candidates: candidates, key: key).names == ["[Host_p.example]:2222", "10.0.0.1"])
    #expect(find(text, candidates: ["[host_p.example]:2222"], key: key).names == ["[host_p.example]:2222"])
    let wrong = text.replacing("|1|", with: "|2|")
    #expect(find(wrong, candidates: candidates, key: key).names.isEmpty)
    for hosts in ["|1|", "|1|||", "|1|AAAA|AAAA", "|1|=|=", "||||", "|"] {
      #expect(names("\(hosts) \(Self.line)", candidates: candidates).isEmpty)
    }
  }

  @Test("patterns fit candidates and are no names; what is excluded is so wherever it stands") func patterns() {
    let text = "*.example,!bad.example,plain \(Self.line)"
    #expect(names(text) == ["plain"])
    #expect(names(text, candidates: ["a.example", "bad.example", "BAD.example", "example"]) == ["plain", "a.example"])
    #expect(names("a,!a \(Self.line)").isEmpty && names("!a \(Self.line)", candidates: ["b"]).isEmpty)
    #expect(names("h?st \(Self.line)", candidates: ["host", "HOST", "hoost"]) == ["host", "HOST"])
    #expect(names("*a*b*c \(Self.line)", candidates: ["xaxbxc", "abcb", "abc"]) == ["xaxbxc", "abc"])
  }

  @Test("bad lines, comments and other keys are passed over") func badLines() {
    let bad = [
      "", "#", "# a \(Self.line)", "a", "a ssh-ed25519", "a \(Self.key.base64)", "a ssh-rsa \(Self.key.base64)",
      "a 1024 35 123456", "a ssh-ed25519 AAAA", "a ssh-ed25519 \(Self.key.base64.dropLast())", " \t \r", "@revoked",
      "@cert-authority a", "\0\0\0", "a ssh-ed25519 \(hostBlob("b").base64)", ", \(Self.line)",
    ]
    #expect(find(bad.joined(separator: "\n")) == find(""))
    #expect(names(bad.joined(separator: "\n") + "\nb \(Self.line)") == ["b"])
    #expect(names(" \t a,,b\t\(Self.line) a comment # more\r\n\r\n  c  \(Self.line)\r") == ["a", "b", "c"])
    #expect(find("a \(Self.line)", key: []) == find("") && find("a \(Self.line)", key: [0, 0, 0, 0]) == find(""))
  }

  @Test("can be printed, are bounded, and are each there once") func bounds() {
    let long = String(repeating: "a", count: 262)
    #expect(names("\(long),\(long.dropLast()),é,a\u{1B}b,\u{7F} \(Self.line)") == [String(long.dropLast())])
    #expect(names("* \(Self.line)", candidates: [long, "é", "a b", "", "ok"]) == ["ok"])
    #expect(names("a,a \(Self.line)\na \(Self.line)", candidates: ["a"]) == ["a"])
    let many = (0..<40).map { "h\($0)" }.joined(separator: ",")
    #expect(names("\(many) \(Self.line)") == (0..<16).map { "h\($0)" })
    // A revocation after all these lines still counts.
    #expect(find("\(many) \(Self.line)\n@revoked * \(Self.line)").isRevoked)
  }

  @Test("are looked for in bounded numbers, however many lines and candidates there are") func bounded() {
    let zeros = [UInt8](repeating: 0, count: 20).base64
    let line = "|1|\(zeros)|\(zeros) \(Self.line)\n"
    let candidates = (0..<100).map { "host\($0)" }
    func found(after lines: Int) -> [String] {
      names(String(repeating: line, count: lines) + "host7 \(Self.line)\n", candidates: candidates)
    }
    #expect(found(after: 39) == ["host7"])
    #expect(found(after: 41) == [])
  }
}
