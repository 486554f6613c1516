import Foundation
import Testing

@testable import VaultModel

@Suite("Durations")
struct SecondsTests {
  @Test(
    "Sums and differences of times stop at the ends of the number range",
    arguments: [
      (1, 2, 3), (-5, 2, -3), (1, Int64.max, Int64.max), (.max, .max, .max), (-1, .min, .min), (.min, -1, .min),
      (.min, .max, -1),
    ] as [(Int64, Int64, Int64)])
  func sums(seconds: Int64, time: Int64, sum: Int64) {
    #expect(Seconds.after(seconds, time) == sum)
    #expect(Seconds.from(.min, to: .max) == .max && Seconds.from(.max, to: .min) == .min)
    #expect(Seconds.from(7, to: 3) == -4 && Seconds.from(.max, to: .max) == 0)
  }

  @Test(
    "A number and at most one unit is a duration",
    arguments: [
      ("0", 0), ("90", 90), ("90s", 90), ("15m", 900), ("12h", 43_200), ("7d", 604_800), ("1w", 604_800), ("007", 7),
      ("6mo", 15_552_000), ("1y", 31_536_000), ("292471208677y", 9_223_372_036_837_872_000),
      ("9223372036854775807", Int64.max), ("9223372036854775807s", .max),
      ("15250284452471w", 9_223_372_036_854_460_800),
    ])
  func parse(text: String, seconds: Int64) { #expect(Seconds.parse(text) == seconds) }

  @Test(
    "Anything else is none",
    arguments: [
      "", "s", "m", "-1", "+1", "1.5h", "1h30m", "5 m", " 5", "5 ", "5M", "5mo1d", "5Y", "5yr", "o", "292471208678y",
      "5min", "0x10", "1_000", "٥",
      "9223372036854775808", "15250284452472w", "99999999999999999999d",
    ])
  func refuse(text: String) { #expect(Seconds.parse(text) == nil) }

  @Test(
    "A duration is written with its two largest units",
    arguments: [
      (0, "0 s"), (1, "1 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (300, "5 min"), (3_600, "1 h"),
      (7_380, "2 h 3 min"), (7_439, "2 h 3 min"), (3_601, "1 h"), (86_400, "1 d"), (90_000, "1 d 1 h"),
      (604_800, "7 d"),
      (-90, "-1 min 30 s"), (Int64.min, "-106751991167300 d 15 h"), (Int64.max, "106751991167300 d 15 h"),
    ])
  func format(seconds: Int64, text: String) { #expect(Seconds.format(seconds) == text) }
}

@Suite("Durations and times in commands and queries")
struct TimeTextTests {
  @Test(
    "are a number with a unit, a date, or @ and Unix seconds",
    arguments: [
      ("30d", .duration(2_592_000)), ("0s", .duration(0)), ("1y", .duration(31_536_000)),
      ("2030-01-01", .time(1_893_456_000)), ("2030-01-01 01:00:00+01:00", .time(1_893_456_000)),
      ("@1893456000", .time(1_893_456_000)), ("@0", .time(0)), ("@253402300799", .time(Timestamp.last)),
    ] as [(String, TimeText)])
  func forms(text: String, meaning: TimeText) throws { #expect(try TimeText(parsing: text) == meaning) }

  @Test("a number alone is neither, and both forms are named", arguments: ["0", "30", "1893456000", "007"])
  func number(text: String) throws {
    let refusal = #expect(throws: ValueError.self) { try TimeText(parsing: text) }
    #expect(refusal?.reason.contains("30d") == true && refusal?.reason.contains("@1893456000") == true)
    let alone = #expect(throws: ValueError.self) { try TimeText.duration(text) }
    #expect(alone?.reason.contains("has no unit") == true)
  }

  @Test(
    "anything else is refused with the forms that there are",
    arguments: [
      "", "@", "@ 1", "@-1", "@+1", "@1.5", "@1s", "@253402300800", "@99999999999999999999", "soon", "-1d",
      "٥",
      "+5", "1893456000.0", "31.12.2027", "1969-12-31", "2027-02-300", "months",
    ])
  func refuse(text: String) {
    let refusal = #expect(throws: ValueError.self) { try TimeText(parsing: text) }
    #expect(refusal?.reason == TimeText.forms)
    let alone = #expect(throws: ValueError.self) { try TimeText.duration(text) }
    #expect(alone?.reason == TimeText.durations)
  }

  @Test(
    "a slip in a unit, a day or a time of day is named",
    arguments: [
      ("30D", "small letters"), ("5M", "small letters"), ("6MO", "small letters"), ("1h30m", "one unit"),
      ("1H30M", "one unit"), ("2027-01-31T24:00:00Z", "no such time of day"),
      ("2027-01-31 12:60:00+01:00", "no such time of day"), ("2027-01-31T12:00Z", "seconds and its zone"),
      ("2027-01-31T12:00:00", "seconds and its zone"), ("2027-02-30", "no such day"),
      ("2027-13-01 10:00:00Z", "no such day"), ("12months", "written mo"), ("1 Month", "written mo"),
    ])
  func slips(text: String, words: String) {
    let refusal = #expect(throws: ValueError.self) { try TimeText(parsing: text) }
    #expect(refusal?.reason.contains(words) == true, "\(text): \(refusal?.reason ?? "")")
  }

  @Test("a duration counts from now on, or back from now, and never past the last year that is written")
  func directions() throws {
    #expect(try TimeText.ahead("1h", of: 100) == 3_700 && TimeText.back("1m", from: 100) == 40)
    #expect(try TimeText.ahead("@7", of: 100) == 7 && TimeText.back("1970-01-02", from: 100) == 86_400)
    for text in ["0s", "9000y", "292471208677y"] {
      #expect(throws: ValueError.self) { try TimeText.ahead(text, of: 1_893_456_000) }
    }
    #expect(throws: ValueError.self) { try TimeText.back("0d", from: 100) }
    for read in [
      { try TimeText.duration("0s") }, { try TimeText.ahead("0d", of: 1) }, { try TimeText.back("0m", from: 1) },
    ] as [() throws -> Int64] {
      let error = #expect(throws: ValueError.self) { try read() }
      #expect(error?.reason == "a duration of 0 is not allowed: give a second or more")
    }
    #expect(try TimeText.back("292471208677y", from: .min) == .min)
  }
}

@Suite("Timestamps")
struct TimestampTests {
  @Test(
    "Known seconds and their text are each other's",
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (1_795_264_565, "2026-11-21T12:36:05Z"),
      (4_107_542_400, "2100-03-01T00:00:00Z"), (2_845_324_798, "2060-02-29T23:59:58Z"),
      (Timestamp.last, "9999-12-31T23:59:59Z"),
    ])
  func known(unix: Int64, text: String) {
    #expect(Timestamp.format(unix) == text)
    #expect(Timestamp.parse(text) == unix)
  }

  @Test("Every day of 400 years, after which the calendar repeats, follows the one before, and back")
  func everyDay() {
    var expected: (year: Int64, month: Int64, day: Int64) = (1970, 1, 1)
    var wrong = 0
    for day: Int64 in 0..<146_097 {
      if Timestamp.civil(fromDays: day) != expected { wrong += 1 }
      if Timestamp.days(year: expected.year, month: expected.month, day: expected.day) != day { wrong += 1 }
      let isLeap = expected.year % 4 == 0 && (expected.year % 100 != 0 || expected.year % 400 == 0)
      let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      expected.day += 1
      if expected.day > lengths[Int(expected.month) - 1] { (expected.day, expected.month) = (1, expected.month + 1) }
      if expected.month > 12 { (expected.month, expected.year) = (1, expected.year + 1) }
    }
    #expect(wrong == 0)
    #expect(expected == (2370, 1, 1))
  }

  @Test(
    "Offsets, fractions and small letters of RFC 3339 are read",
    arguments: [
      ("1985-04-12T23:20:50.52Z", 482_196_050), ("1996-12-19T16:39:57-08:00", 851_042_397),
      ("1996-12-20T00:39:57Z", 851_042_397), ("1970-01-01t02:00:00z", 7_200), ("1970-01-01T01:30:00+01:30", 0),
      ("1969-12-31T23:00:00-01:00", 0), ("1970-01-01T00:00:00.000000000001-00:00", 0),
    ])
  func rfc3339(text: String, unix: Int64) { #expect(Timestamp.parse(text) == unix) }

  @Test(
    "Anything else is refused",
    arguments: [
      "", "2027", "2027-01", "2027-1-1", "27-01-01", "2027/01/01", "20270101", "2027-01-01 ", " 2027-01-01",
      "2027-01-01T", "2027-01-01T00:00Z", "2027-01-01T00:00:00", "2027-01-01T24:00:00Z",
      "2027-01-01T23:60:00Z", "2016-12-31T23:59:60Z", "2027-01-01T00:00:00.Z", "2027-01-01T00:00:00,5Z",
      "2027-01-01T00:00:00+0100", "2027-01-01T00:00:00+24:00", "2027-01-01T00:00:00+01:60", "2027-01-01T00:00:00ZZ",
      "2027-00-01", "2027-13-01", "2027-01-00", "2027-01-32", "2027-04-31", "2027-02-29", "2100-02-29", "1900-02-29",
      "1969-12-31", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "10000-01-01",
      "-2027-01-01", "+2027-01-01", "2027-01-01T-1:00:00Z", "٢٠٢٧-٠١-٠١",
    ])
  func refuse(text: String) { #expect(Timestamp.parse(text) == nil) }

  @Test("Times outside those years are written too, and never trap")
  func outside() {
    #expect(Timestamp.format(-1) == "1969-12-31T23:59:59Z")
    #expect(Timestamp.format(Timestamp.last + 1) == "10000-01-01T00:00:00Z")
    #expect(Timestamp.format(-62_167_219_201) == "-0001-12-31T23:59:59Z")
    #expect(Timestamp.format(.min).hasSuffix("T08:29:52Z") && Timestamp.format(.max).hasSuffix("T15:30:07Z"))
  }

  @Test("The text agrees with Foundation's")
  func foundation() {
    let style = Date.ISO8601FormatStyle()
    for step in 0..<2_000 {
      let unix = Int64(step) * 126_700_003
      let text = Date(timeIntervalSince1970: Double(unix)).formatted(style)
      #expect(Timestamp.format(unix) == text && Timestamp.parse(text) == unix)
    }
  }
}
