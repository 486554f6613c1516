import Testing
import VaultSigning

@testable import VaultSSH

@Suite("Constraints of destinations, as bytes") struct DestinationConstraintFormatTests {
  private func isRefused(_ content: [UInt8]) -> Bool {
    (try? DestinationConstraints(unsafe content.span.bytes)) == nil
  }

  private func host(_ user: String, _ name: String, reserved: String = "", _ keys: [UInt8]...) -> [UInt8] {
    sshBytes {
      $0.string(user)
      $0.string(name)
      $0.string(reserved)
    } + keys.joined()
  }

  private func key(_ name: String, isAuthority: UInt8 = 0) -> [UInt8] {
    sshBytes {
      $0.string(hostBlob(name))
      $0.byte(isAuthority)
    }
  }

  private func step(_ from: [UInt8], _ to: [UInt8], reserved: String = "", rest: [UInt8] = []) -> [UInt8] {
    let content =
      sshBytes {
        $0.string(from)
        $0.string(to)
        $0.string(reserved)
      } + rest
    return sshBytes { $0.string(content) }
  }

  @Test("are the same after being written and read") func roundTrip() throws {
    let content =
      step(host("", ""), host("u", "b", key("b"), key("c", isAuthority: 1)))
      + step(host("", "b", key("b")), host("", "c", key("c")))
    let constraints = try DestinationConstraints(unsafe content.span.bytes)
    #expect(constraints.encoded() == content && constraints.steps.count == 2)
    #expect(constraints.steps[0].to.user == "u" && constraints.steps[0].to.keys[1].isAuthority)
  }

  @Test("need a host to go to with keys, and one to come from with keys or none at all") func incomplete() {
    let here = host("", "")
    let there = host("", "b", key("b"))
    #expect(!isRefused(step(here, there)))
    for bad in [
      [], step(here, here), step(here, host("", "b")), step(here, host("", "", key("b"))), step(host("u", ""), there),
      step(host("", "a"), there), step(host("", "", key("a")), there), step(host("u", "a", key("a")), there),
      step(here, there, reserved: "r"), step(here, there, rest: [0]),
      step(here, host("", "b", reserved: "r", key("b"))),
      step(here, host("", "b", key("b"), [0])), step(here, host("", "b", key("b", isAuthority: 2))),
      step(here, host("", "b\0", key("b"))), step(here, host("", "b", sshBytes { $0.string("") } + [0])),
    ] { #expect(isRefused(bad)) }
  }

  @Test("are bounded: 1024 of them, a user of 256 bytes, a name of 1024") func bounds() {
    let here = host("", "")
    let one = step(here, host("", "b", key("b")))
    #expect(!isRefused([[UInt8]](repeating: one, count: 1024).flatMap(\.self)))
    #expect(isRefused([[UInt8]](repeating: one, count: 1025).flatMap(\.self)))
    func sized(user: Int, name: Int) -> [UInt8] {
      let text = { String(repeating: "x", count: $0) }
      return step(here, host(text(user), text(name), key("b")))
    }
    #expect(!isRefused(sized(user: 256, name: 1024)))
    #expect(isRefused(sized(user: 257, name: 1)) && isRefused(sized(user: 1, name: 1025)))
  }

  @Test("no inner length reaches beyond the string that it is in") func nested() {
    let content = step(host("", ""), host("u", "b", key("b"))) + step(host("", ""), host("u", "b", key("b")))
    let first = content.count / 2
    // Each length of the first step, extended as far as the bytes behind it allow.
    var refused = 0
    for place in 0..<first - 4 where content[place..<place + 3].allSatisfy({ $0 == 0 }) {
      for longer in 1...60 as ClosedRange<UInt8> where content[place + 3] < 128 {
        var changed = content
        changed[place + 3] += longer
        if isRefused(changed) { refused += 1 }
      }
    }
    #expect(refused >= 10 * 60)
  }
}
