import Testing
import VaultBytes

@testable import VaultSSH

@Suite("The certificate of a host") struct HostCertificateTests {
  /// The blobs of `Vectors/host-certificates`, by their names.
  private static let blobs: [String: [UInt8]] = {
    var blobs: [String: [UInt8]] = [:]
    for line in RecordedConnection.text("host-certificates").split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      blobs[String(words[0])] = [UInt8](base64: words[2])
    }
    return blobs
  }()

  private func blob(_ name: String) throws -> [UInt8] { try #require(Self.blobs[name]) }

  /// Returns the line of a known_hosts file for a key.
  private func line(_ hosts: String, _ name: String) throws -> String {
    let blob = try blob(name)
    return "\(hosts) \(try KeyBlob.type(blob)) \(blob.base64)\n"
  }

  private func find(_ text: String, _ certificate: [UInt8], candidates: [String] = []) -> KnownHosts {
    let text = Array(text.utf8)
    return KnownHosts(of: certificate, in: unsafe text.span.bytes, candidates: candidates)
  }

  private func names(_ text: String, _ name: String, candidates: [String] = []) throws -> [String] {
    find(text, try blob(name), candidates: candidates).names
  }

  @Test("has the host's key and its authority's, and counts only if the authority has signed it for a host") func read()
    throws
  {
    for (name, host, authority) in [("named", "host", "ca"), ("any", "host-p256", "ca-rsa")] {
      let key = HostKey(try blob(name))
      let wanted = (try blob(host), try blob(authority))
      #expect(key.isCertificate && key.plain == wanted.0 && key.certificate?.authority == wanted.1)
    }
    let user = HostKey(try blob("user"))
    let host = try blob("host")
    #expect(user.isCertificate && user.certificate == nil && user.plain == host)
    #expect(HostKey(host).plain == host && !HostKey(host).isCertificate && HostKey([1]).plain == [1])
  }

  @Test("counts for nothing once a bit of it is another, or its end is missing", arguments: ["named", "any"])
  func mutations(name: String) throws {
    let whole = try blob(name)
    for count in whole.indices { #expect(HostKey(Array(whole[..<count])).certificate == nil) }
    #expect(HostKey(whole + [0]).certificate == nil)
    for place in whole.indices {
      var changed = whole
      changed[place] ^= 1 << UInt8(place % 8)
      #expect(HostKey(changed).certificate == nil, "byte \(place)")
    }
  }

  @Test("is named by a line of the key in it, whatever its authority") func plainLine() throws {
    for name in ["named", "user"] { #expect(try names(line("old.example", "host"), name) == ["old.example"]) }
    #expect(try names(line("old.example", "host-p256"), "named").isEmpty)
  }

  @Test("is named by a line of its authority as far as it has the name itself") func authorityLine() throws {
    let mark = "@cert-authority"
    #expect(try names(line("\(mark) *", "ca"), "named") == ["gate.example"])
    #expect(try names(line("\(mark) *.example,!gate.example", "ca"), "named").isEmpty)
    #expect(try names(line("\(mark) gate.example,other.example", "ca"), "named") == ["gate.example"])
    let candidates = ["a.inner.example", "Gate.example", "other.example"]
    #expect(
      try names(line("\(mark) *.example", "ca"), "named", candidates: candidates)
        == ["a.inner.example", "Gate.example", "gate.example"])
    // A certificate without names is for every host, and names none.
    #expect(try names(line("\(mark) *.example", "ca-rsa"), "any").isEmpty)
    #expect(try names(line("\(mark) *.example", "ca-rsa"), "any", candidates: candidates) == candidates)
    #expect(try names(line("\(mark) a.example,b.example", "ca-rsa"), "any") == ["a.example", "b.example"])
    // A line of another authority, of the authority's own host, or for a certificate of a user.
    #expect(try names(line("\(mark) *", "ca-rsa"), "named").isEmpty)
    #expect(try names(line("gate.example", "ca"), "named").isEmpty)
    #expect(try names(line("\(mark) *", "ca"), "user").isEmpty)
  }

  @Test("that somebody else has signed in the authority's name is named by no line of the authority") func forged()
    throws
  {
    let (genuine, text) = (try blob("named"), try line("@cert-authority *", "ca"))
    var forged = genuine
    forged[forged.count - 1] ^= 1
    #expect(find(text, forged).names.isEmpty && find(text, genuine).names == ["gate.example"])
  }

  @Test("is revoked with the key in it, and with its authority's") func revoked() throws {
    for key in ["host", "ca"] {
      let found = find(try line("@revoked *", key), try blob("named"))
      #expect(found.isRevoked)
    }
    let other = find(try line("@revoked *", "ca-rsa"), try blob("named"))
    #expect(!other.isRevoked)
  }

  @Test("names the recorded host that has one") func recorded() throws {
    let frame = try RecordedConnection.frame("login to a host with a certificate", type: 27)
    guard case .bind(let bind?) = try agentRequest(frame) else { throw UnexpectedRequest() }
    let text = RecordedConnection.text("known_hosts")
    #expect(find(text, bind.hostKey, candidates: ["host_d", "host_a"]).names == ["host_d"])
  }
}
