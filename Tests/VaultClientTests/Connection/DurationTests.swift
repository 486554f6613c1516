import Testing

@testable import VaultClient

@Suite struct DurationTests {
  @Test(
    "Milliseconds are rounded up and never negative",
    arguments: [
      (Duration.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1001), 2), (.seconds(3), 3000),
      (.seconds(-1), 0),
    ])
  func rounds(_ duration: Duration, _ milliseconds: Int) { #expect(duration.milliseconds == milliseconds) }

  @Test("Durations beyond all clocks are cut off, not overflowed")
  func clamps() {
    #expect(Duration.seconds(Int64.max).nanoseconds == .max)
    #expect(Duration.seconds(Int64.min).nanoseconds == .min)
    #expect(!Deadline(after: .seconds(Int64.max)).hasPassed)
    #expect(Deadline(after: .seconds(Int64.min)).hasPassed)
    #expect(Deadline(after: .zero).hasPassed)
    #expect(!Deadline(after: nil).hasPassed)
    #expect(Deadline(after: nil).pollTimeout == -1)
    #expect(Deadline(after: .seconds(Int64.max)).pollTimeout == .max)
    #expect(Deadline(after: nil).orAfter(.zero).hasPassed)
    #expect(Deadline(after: .zero).orAfter(.seconds(60)).hasPassed)
  }
}
