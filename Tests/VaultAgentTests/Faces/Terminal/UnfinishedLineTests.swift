import Testing

@testable import VaultAgent

@Suite("A line that was begun for a withdrawn question") struct UnfinishedLineTests {
  /// The time of the withdrawal, and one long after it, in microseconds.
  private let withdrawal: UInt64 = 5_000_000
  private let later: UInt64 = 65_000_000

  /// The milliseconds of the time of reaction, and one more, so that the time is over after a wait of that length.
  private let whole: Int32 = 2001

  @Test("a person who withdraws the line with control-U has the time of reaction again, in which nothing shows")
  func again() {
    var line = UnfinishedLine(isBegun: true, since: withdrawal)
    #expect(line.pause(isVisible: true, at: later) == -1 && line.pause(isVisible: false, at: later) == -1)
    line.take(0x15, at: later)
    #expect(!line.isBegun && !line.isEnded)
    #expect(line.pause(isVisible: true, at: later) == whole)
    #expect(line.pause(isVisible: true, at: later + UnfinishedLine.reaction - 1) == 1)
    #expect(line.pause(isVisible: true, at: later + UnfinishedLine.reaction) == nil)
    // A secret does not show, whoever it is for.
    #expect(line.pause(isVisible: false, at: later) == nil)
    // The line that is typed again has no end of its own either.
    line.take(UInt8(ascii: "a"), at: later + 1)
    #expect(line.pause(isVisible: true, at: .max) == -1 && line.pause(isVisible: false, at: .max) == -1)
  }

  @Test(
    "Enter and control-D end the line, and the next question is put at once",
    arguments: [0x0A, 0x0D, 0x04] as [UInt8])
  func ended(key: UInt8) {
    for isBegun in [true, false] {
      var line = UnfinishedLine(isBegun: isBegun, since: withdrawal)
      line.take(key, at: withdrawal)
      #expect(line.isEnded && line.pause(isVisible: true, at: withdrawal) == nil)
    }
  }

  @Test("a question for which nothing is typed neither begins the time of reaction again nor ends it") func after() {
    let before = UnfinishedLine(isBegun: false, since: withdrawal)
    #expect(before.pause(isVisible: true, at: withdrawal) == whole)
    let line = UnfinishedLine(isBegun: false, after: before)
    #expect(line.pause(isVisible: true, at: withdrawal + 1_500_000) == 501)
    #expect(line.pause(isVisible: true, at: withdrawal + UnfinishedLine.reaction) == nil)
    #expect(UnfinishedLine(isBegun: true, after: before).pause(isVisible: true, at: later) == -1)
    #expect(UnfinishedLine(isBegun: false, after: nil).pause(isVisible: true, at: withdrawal) == nil)
  }
}
