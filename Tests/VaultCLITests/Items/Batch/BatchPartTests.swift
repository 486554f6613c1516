import Testing
import VaultTesting

/// Long input of `vault set --batch`: it is checked and stored in parts of 64 MiB. The programs of a debug build take a
/// minute for each.
@Suite("A long input of set --batch", .enabled(if: Sandbox.areProgramsReleased)) struct BatchPartTests {
  private static let value = String(repeating: "v", count: 1_000_000)

  /// Makes lines for items of about a megabyte, and at the end a line that is refused.
  private static func lines(_ count: Int) -> String {
    (1...count).map { "{\"name\":\"long/\($0)\",\"value\":\"\(value)\"}\n" }.joined() + "{\"nam\":\"x\"}\n"
  }

  @Test("of lines of 64 MiB together none is stored if one of them is refused") func whole() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let outcome = try sandbox.run("set", "--batch", stdin: Self.lines(60))
    #expect(outcome.status == 65 && outcome.errors.contains("line 61"), "\(outcome.errors)")
    #expect(outcome.errors.contains("(0 stored before that)"))
    #expect(try sandbox.must(["list", "long/"]) == "")
  }

  @Test("of longer input the parts before the refused line are stored, and counted") func parts() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    // The part ends with the first line that brings it to 64 MiB.
    let outcome = try sandbox.run("set", "--batch", stdin: Self.lines(69))
    #expect(outcome.status == 65 && outcome.errors.contains("line 70"), "\(outcome.errors)")
    #expect(outcome.errors.contains("(68 stored before that)"), "\(outcome.errors)")
    #expect(try sandbox.must(["find", "name~long/*"]).split(separator: "\n").count == 68)
  }
}
