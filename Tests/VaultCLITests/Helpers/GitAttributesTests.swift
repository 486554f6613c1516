import Testing
import VaultWire

@testable import VaultCLI

/// Returns the attributes read from lines; nil if the lines are malformed.
private func read(_ text: String) -> [String: String]? { read(Array(text.utf8)) }

private func attributes(_ bytes: [UInt8]) throws(GitAttributes.Problem) -> GitAttributes {
  // Bytes have no padding: all are initialized.
  try GitAttributes(parsing: unsafe bytes.span.bytes)
}

private func read(_ bytes: [UInt8]) -> [String: String]? {
  guard let said = try? attributes(bytes) else { return nil }
  var found: [String: String] = [:]
  for key in GitAttributes.Key.allCases {
    found[key.rawValue] = said.name(key).map { String(decoding: $0, as: UTF8.self) }
  }
  if said.takesAuthtype { found["takes"] = "authtype" }
  return found
}

@Suite("What git says") struct GitAttributesTests {
  @Test("ends with an empty line or the end, and the last of two counts") func lines() {
    #expect(read("protocol=https\nhost=a\nhost=b\n\nhost=c\n") == ["protocol": "https", "host": "b"])
    #expect(read("host=a=b") == ["host": "a=b"])
    #expect(read("") == [:])
    #expect(read("\n\n") == [:])
    #expect(read("path=\nusername= ü \r\n") == ["path": "", "username": " ü \r"])
  }

  @Test("leaves out what is not known") func unknown() {
    #expect(read("wwwauth[]=Basic\nstate[]=x\nhost=a\n=b\nHOST=c\nhost =d\n") == ["host": "a"])
  }

  @Test("an empty value takes the capabilities back") func capabilities() {
    #expect(read("capability[]=state\ncapability[]=authtype\n") == ["takes": "authtype"])
    #expect(read("capability[]=authtype\ncapability[]=\n") == [:])
    #expect(read("capability=authtype\n") == [:])
  }

  @Test("a line without = and a NUL are errors that name the line") func problems() {
    for (text, line) in [("protocol=https\nhost", 2), ("a", 1), ("a=b\nc=\0d\n", 2), ("\0", 1), ("a=b\r\n\r\n", 2)] {
      var problem: GitAttributes.Problem?
      do throws(GitAttributes.Problem) { _ = try attributes(Array(text.utf8)) } catch { problem = error }
      #expect(problem?.line == line, "\(text)")
    }
  }

  @Test("a URL stands for its parts, as git takes it apart") func urls() {
    #expect(read("url=https://example.org") == ["protocol": "https", "host": "example.org"])
    #expect(
      read("url=https://a%40b:p%3A%C3%BC@example.org:80/%74eam/x.git/") == [
        "protocol": "https", "host": "example.org:80", "username": "a@b", "password": "p:ü", "path": "team/x.git",
      ])
    #expect(read("url=cert:///etc/key.pem\n") == ["protocol": "cert", "host": "", "path": "etc/key.pem"])
    #expect(read("username=bob\nurl=http://h?a@b\n") == ["protocol": "http", "host": "h", "path": "?a@b"])
    #expect(read("url=http://h\nusername=bob\n") == ["protocol": "http", "host": "h", "username": "bob"])
    // An earlier line counts no more where the URL has no such part.
    let lines = "protocol=http\nhost=a\nusername=bob\npassword=p\npath=b.git\n"
    for end in ["", "/", "//"] {
      #expect(read(lines + "url=https://h\(end)\n") == ["protocol": "https", "host": "h"], "\(end)")
    }
    #expect(
      read(lines + "url=https://ana@h/c\n") == ["protocol": "https", "host": "h", "username": "ana", "path": "c"])
    #expect(read("url=https://h/c\nurl=https://h\n") == ["protocol": "https", "host": "h"])
    for url in ["example.org", "://x", "http:/x", "https://a%0Ahost=b", "https://a/%00"] {
      #expect(read("url=\(url)\n") == nil, "\(url)")
    }
  }

  @Test("what is cut off anywhere, or has a flipped bit, is read or refused") func cuts() {
    let whole = Array(
      "capability[]=authtype\nprotocol=https\nhost=example.org\npath=a\nusername=ana\npassword=ü\nurl=http://a:b@c/d\n"
        .utf8)
    for count in 0..<whole.count {
      let cut = read(Array(whole[..<count]))
      #expect(cut?["password"].map { ["ü", "b", "\u{FFFD}", ""].contains($0) } ?? true)
    }
    for index in whole.indices {
      for bit in 0..<8 {
        var flipped = whole
        flipped[index] ^= 1 << bit
        _ = read(flipped)
      }
    }
  }

  @Test("speaks of the items of its host alone") func places() throws {
    func place(_ text: String) throws -> GitPlace? { GitPlace(try attributes(Array(text.utf8))) }
    let any = try #require(try place("protocol=https\nhost=example.org\n"))
    #expect(any.name == "git/https/example.org/%")
    for (item, user) in [
      ("git/https/example.org/ana", "ana"), ("git/https/example.org/a%2Fb/ana", "ana"), ("git/https/example.org/%", ""),
      ("git/https/example.org/ana/%oauth_refresh_token", nil), ("git/https/example.org/a/b/c", nil),
      ("git/https/example.org", nil), ("git/https/example.org.evil/ana", nil), ("git/https/example.org/%zz", nil),
    ] {
      #expect(any.user(of: item).map { String(decoding: $0.name, as: UTF8.self) } == user, "\(item)")
    }
    #expect(try place("protocol=https\n") == nil)
    #expect(try place("host=a\n") == nil)
    #expect(try place("protocol=\nhost=a\n") == nil)
    #expect(try place("protocol=cert\nhost=\npath=k.pem\n")?.name == "git/cert/%/k.pem/%")
  }
}
