import Foundation
import Testing
import VaultBytes
import VaultTesting

@testable import VaultCLI

@Suite("The spellings of a URL, for all helpers") struct URLSpellingTests {
  /// Names that mean the same place, one place per line.
  private static let places: [[String]] = [
    ["ghcr.io", "ghcr.io/", "https://ghcr.io", "https://ghcr.io/", "GHCR.io", "HTTPS://ghcr.io:443//", "ghcr.io:443"],
    ["localhost", "https://localhost/"],
    ["r.example.org:5000", "https://R.example.org:5000/"],
    ["https://pypi.example.org/simple", "https://pypi.example.org/simple/", "pypi.example.org/simple"],
    ["http://r.example.org", "http://r.example.org:80/", "HTTP://R.example.org"],
    ["http://r.example.org:443"],
    ["https://r.example.org:80"],
    ["https://index.docker.io/v1/", "index.docker.io/v1"],
    ["sparse+https://r.example.org/", "sparse+https://R.example.org:443"],
    ["registry+https://r.example.org/index"],
    ["https://pypi.example.org/Simple/"],
    ["https://ana@pypi.example.org/simple", "https://ana@PYPI.example.org/simple/"],
    ["https://Ana@pypi.example.org/simple"],
    ["https://[2001:db8::1]:5000/", "[2001:DB8::1]:5000"],
    // A name that is no place means only itself.
    ["registry"], ["Registry"], ["registry/"], [""], ["://x"], ["a b.c"], ["https://"], ["/ghcr.io"],
  ]

  @Test("find each other, and none finds another place") func table() {
    for (index, place) in Self.places.enumerated() {
      for stored in place {
        for (other, names) in Self.places.enumerated() {
          for asked in names {
            let finds = URLSpelling(asked).all.contains(URLSpelling(stored).usual)
            #expect(finds == (index == other), "\(stored) is stored, \(asked) is asked for")
          }
        }
        // An earlier program may have stored the name just as it was written.
        #expect(URLSpelling(stored).all[0] == stored)
      }
    }
  }

  /// A name under which a secret is stored, a name that another program asks for, and whether the second finds the
  /// first.
  struct Pair: Sendable {
    let stored: String
    let asked: String
    let isFound: Bool
  }

  private static let pairs = [
    Pair(stored: "ghcr.io", asked: "https://ghcr.io/", isFound: true),
    Pair(stored: "https://ghcr.io/", asked: "ghcr.io", isFound: true),
    Pair(stored: "https://ghcr.io:443", asked: "GHCR.io", isFound: true),
    Pair(stored: "https://ghcr.io/simple/", asked: "https://ghcr.io/simple", isFound: true),
    Pair(stored: "https://ghcr.io/simple", asked: "https://ghcr.io/", isFound: false),
    Pair(stored: "ghcr.io", asked: "http://ghcr.io", isFound: false),
    Pair(stored: "http://ghcr.io", asked: "ghcr.io", isFound: false),
    Pair(stored: "ghcr.io:5000", asked: "ghcr.io", isFound: false),
  ]

  /// The three calls of a helper for one name; each returns true if it succeeded.
  private struct Spoken: Sendable {
    let name: String
    let store: @Sendable (HelperStand, String) throws -> Bool
    let get: @Sendable (HelperStand, String) throws -> Bool
    let erase: @Sendable (HelperStand, String) throws -> Bool
  }

  private static func cargo(_ stand: HelperStand, _ kind: String, _ url: String) throws -> Bool {
    let token = kind == "login" ? #","token":"t0ken""# : ""
    let request = #"{"v":1,"registry":{"index-url":"\#(url)"},"kind":"\#(kind)"\#(token),"args":[]}"#
    let outcome = try stand.run("cargo-credential-vault", ["--cargo-plugin"], stdin: request + "\n")
    return outcome.output.contains(#"{"Ok":"#) && (kind != "get" || outcome.output.contains("t0ken"))
  }

  private static let protocols = [
    Spoken(name: "docker") { stand, name in
      let json = #"{"ServerURL":"\#(name)","Username":"ana","Secret":"t0ken"}"#
      return try stand.run("docker-credential-vault", ["store"], stdin: json).status == 0
    } get: { stand, name in
      let outcome = try stand.run("docker-credential-vault", ["get"], stdin: name)
      // The helper repeats the name as the program spelled it.
      return outcome.output == #"{"ServerURL":"\#(name)","Username":"ana","Secret":"t0ken"}"# + "\n"
    } erase: { stand, name in
      try stand.run("docker-credential-vault", ["erase"], stdin: name).status == 0
    },
    Spoken(name: "keyring") { stand, name in
      try stand.run("keyring", ["set", name, "ana"], stdin: "t0ken").status == 0
    } get: { stand, name in
      let one = try stand.run("keyring", ["get", name, "ana"]).output == "t0ken\n"
      let anyone = try stand.run("keyring", ["--mode", "creds", "get", name]).output == "ana\nt0ken\n"
      #expect(one == anyone)
      return one
    } erase: { stand, name in
      try stand.run("keyring", ["del", name, "ana"]).status == 0
    },
    Spoken(name: "cargo") {
      try cargo($0, "login", $1)
    } get: {
      try cargo($0, "get", $1)
    } erase: {
      try cargo($0, "logout", $1)
    },
    Spoken(name: "terraform") { stand, name in
      try stand.run("terraform-credentials-vault", ["store", name], stdin: #"{"token":"t0ken"}"#).status == 0
    } get: { stand, name in
      try stand.run("terraform-credentials-vault", ["get", name]).output == #"{"token":"t0ken"}"# + "\n"
    } erase: { stand, name in
      let before = try stand.names("terraform")
      _ = try stand.run("terraform-credentials-vault", ["forget", name])
      return try stand.names("terraform") != before
    },
  ]

  @Test("are one for each helper: what is stored is found, replaced and erased by any", arguments: [0, 1, 2, 3])
  func helpers(place: Int) throws {
    let tried = Self.protocols[place]
    let stand = try HelperStand()
    defer { stand.close() }
    for pair in Self.pairs {
      let what = "\(tried.name): \(pair)"
      #expect(try tried.store(stand, pair.stored), "\(what)")
      #expect(try tried.get(stand, pair.asked) == pair.isFound, "\(what)")
      let names = try stand.names(tried.name)
      #expect(names.count == 1, "\(what)")
      #expect(try tried.store(stand, pair.asked), "\(what)")
      #expect(try stand.names(tried.name).count == (pair.isFound ? 1 : 2), "\(what)")
      #expect(try tried.erase(stand, pair.asked), "\(what)")
      if !pair.isFound {
        #expect(try stand.names(tried.name) == names, "\(what)")
        #expect(try tried.erase(stand, pair.stored), "\(what)")
      }
      #expect(try stand.names(tried.name) == [], "\(what)")
    }
  }

  @Test("are git's for the host and for the end of a path, and its scheme is its own") func git() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    func git(_ action: String, _ lines: String) throws -> String {
      let outcome = try stand.run("git-credential-vault", [action], stdin: lines)
      #expect(outcome.status == 0, "\(outcome)")
      return outcome.output
    }
    // The first name stands as an earlier version of the helper stored it, the second as the helper stores it now.
    try stand.sandbox.must(["set", "git/https/Old.example.org/ana"], stdin: "1")
    #expect(try git("get", "protocol=https\nhost=Old.example.org\n") == "username=ana\npassword=1\n")
    _ = try git("store", "protocol=https\nhost=Old.example.org\nusername=ana\npassword=2\n")
    #expect(try stand.names("git") == ["git/https/Old.example.org/ana"])
    _ = try git("store", "protocol=https\nhost=New.example.org:443\nusername=ana\npassword=3\n")
    #expect(try stand.names("git") == ["git/https/Old.example.org/ana", "git/https/new.example.org/ana"])
    for host in ["new.example.org", "NEW.example.org", "new.example.org:443"] {
      #expect(try git("get", "protocol=https\nhost=\(host)\n") == "username=ana\npassword=3\n", "\(host)")
    }
    for place in ["protocol=http\nhost=new.example.org\n", "protocol=https\nhost=new.example.org:80\n"] {
      #expect(try git("get", place).isEmpty, "\(place)")
    }
    _ = try git("store", "protocol=https\nhost=p.example.org\npath=team/repo.git/\nusername=ana\npassword=4\n")
    #expect(
      try git("get", "protocol=https\nhost=p.example.org\npath=team/repo.git\n") == "username=ana\npassword=4\n")
    _ = try git("erase", "protocol=https\nhost=NEW.example.org\nusername=ana\npassword=3\n")
    #expect(try stand.names("git/https/new.example.org") == [])
  }
}
