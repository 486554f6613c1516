import Testing

@testable import VaultDaemon

@Suite("The end of helper programs") struct HelperEndsTests {
  private final class Helper {}

  @Test("is waited for until all that were ending are gone, each time anew, and everyone is told once") func told() {
    let ends = HelperEnds()
    let (first, second, other) = (Helper(), Helper(), Helper())
    var told: [String] = []
    ends.whenAllGone { told.append("at once") }
    #expect(told == ["at once"])
    // A helper may be called off more than once.
    for helper in [first, first, second] { ends.isEnding(helper) }
    for name in ["one", "two"] { ends.whenAllGone { told.append(name) } }
    ends.isGone(first)
    ends.isGone(other)
    #expect(told == ["at once"])
    ends.isGone(second)
    #expect(told == ["at once", "one", "two"])
    ends.isEnding(first)
    ends.whenAllGone { told.append("again") }
    ends.isGone(second)
    #expect(told == ["at once", "one", "two"])
    ends.isGone(first)
    ends.isGone(first)
    #expect(told == ["at once", "one", "two", "again"])
  }
}
