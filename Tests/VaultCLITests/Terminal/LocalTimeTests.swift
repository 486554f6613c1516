import Foundation
import Testing
import VaultTesting

@Suite("Times") struct LocalTimeTests {
  /// Time zones given by their rules, so that no zone file is needed: the first two have summer time, on either side of
  /// Greenwich.
  private static let zones = [
    ("CET-1CEST,M3.5.0,M10.5.0/3", ["2190-01-01 12:30:00+01:00", "2190-07-01 13:30:00+02:00"]),
    ("EST5EDT,M3.2.0,M11.1.0", ["2190-01-01 06:30:00-05:00", "2190-07-01 07:30:00-04:00"]),
    ("<+0545>-5:45", ["2190-01-01 17:15:00+05:45", "2190-07-01 17:15:00+05:45"]),
    ("<-1230>12:30", ["2189-12-31 23:00:00-12:30", "2190-06-30 23:00:00-12:30"]),
  ]
  private static let moments = ["2190-01-01T11:30:00Z", "2190-07-01T11:30:00Z"]

  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox.withVault(unlocked: true)
    for (number, moment) in Self.moments.enumerated() {
      try sandbox.must(["set", "item\(number)", "--expires", moment], stdin: "v")
    }
    return sandbox
  }

  @Test("are local on a terminal, with their offset, in summer and in winter, and UTC elsewhere and in JSON")
  func zones() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    for (zone, texts) in Self.zones {
      let environment: [String: String?] = ["TZ": zone]
      for (number, text) in texts.enumerated() {
        let name = "item\(number)"
        let terminal = try Terminal(sandbox, ["show", name], environment: environment)
        #expect(try terminal.wait() == 0)
        #expect(terminal.screen.contains("expires: \(text)\r\n"), "\(zone): \(terminal.screen)")
        let field = try Terminal(sandbox, ["get", name, "--field", "expires"], environment: environment)
        #expect(try field.wait() == 0)
        #expect(field.screen == "\(text)\r\n")
        let piped = try sandbox.run(["show", name], environment: environment)
        #expect(piped.output.contains("expires: \(Self.moments[number])\n"), "\(piped)")
        let json = try sandbox.run(["show", name, "--json"], environment: environment)
        #expect(json.output.contains("\"expires\":\(number == 0 ? 6_942_627_000 : 6_958_265_400)"), "\(json)")
      }
      let list = try Terminal(sandbox, ["list"], environment: environment)
      #expect(try list.wait() == 0)
      for text in texts { #expect(list.screen.contains(String(text.prefix(10))), "\(zone): \(list.screen)") }
    }
  }

  @Test("that a terminal shows can be given back") func roundTrip() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try sandbox.must(["set", "other", "--expires", "2190-07-01 13:30:00+02:00"], stdin: "v")
    #expect(try sandbox.must(["get", "other", "--field", "expires"]) == Self.moments[1])
  }

  @Test("in what is said on standard error are local when that is a terminal") func notes() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    for (zone, offset) in [("<+0545>-5:45", "+05:45"), ("<-1230>12:30", "-12:30")] {
      let terminal = try Terminal(
        sandbox, ["unlock", "--for", "1h", "--password-stdin"],
        stdin: try sandbox.write(password + "\n", to: "pw"), environment: ["TZ": zone])
      #expect(try terminal.wait() == 0)
      let said = terminal.screen.wholeMatch(of: /vault: unlocked until [0-9-]{10} [0-9:]{8}([+-][0-9:]{5})\r\n/)
      #expect(said.map { String($0.output.1) } == offset, "\(terminal.screen)")
      // The kind of standard error decides, not that of standard output.
      let elsewhere = try Terminal(
        sandbox, ["unlock", "--for", "1h", "--password-stdin"], stdin: sandbox.home + "/pw",
        stdout: sandbox.home + "/output", environment: ["TZ": zone])
      #expect(try elsewhere.wait() == 0)
      #expect(elsewhere.screen.contains("\(offset)\r\n"), "\(elsewhere.screen)")
      let status = try Terminal(sandbox, ["status"], environment: ["TZ": zone])
      #expect(try status.wait() == 0)
      let left = (50...59).map { "\($0) min" } + ["1 h"]
      #expect(left.contains { status.screen.contains("\(offset) (in \($0)") }, "\(status.screen)")
    }
  }
}
