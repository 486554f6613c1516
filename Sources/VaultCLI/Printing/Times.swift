internal import ArgumentParser
internal import Glibc
internal import VaultModel

/// Durations and times as given to options, all in the grammar of ``TimeText``.
enum Times {
  /// A duration in seconds, at least one.
  static func duration(_ text: String) throws -> Int64 {
    try option { () throws(ValueError) in try TimeText.duration(text) }
  }

  /// The time that a call waits for a person, in seconds; 0 means that it does not wait.
  static func wait(_ text: String) throws -> Int64 {
    try option { () throws(ValueError) in try waitSeconds(text) }
  }

  /// Parses the time that a call waits for a person, as ``wait(_:)`` does, for code without the argument parser.
  static func waitSeconds(_ text: String) throws(ValueError) -> Int64 {
    Seconds.parse(text) == 0 ? 0 : try TimeText.duration(text)
  }

  /// The reuse window of a proof, in seconds.
  static func reuse(_ text: String) throws -> Int64 {
    try option { () throws(ValueError) in try reuseSeconds(text) }
  }

  static func reuseSeconds(_ text: String) throws(ValueError) -> Int64 {
    let seconds = try TimeText.duration(text)
    guard seconds <= Policy.reuseWindows.upperBound else {
      throw ValueError(reason: "a proof counts for a day at most; give up to 1d")
    }
    return seconds
  }

  /// A time in the future, in Unix seconds.
  static func end(_ text: String) throws -> Int64 {
    try option { () throws(ValueError) in try TimeText.ahead(text, of: now()) }
  }

  /// A time in the past, in Unix seconds.
  static func past(_ text: String) throws -> Int64 {
    try option { () throws(ValueError) in try TimeText.back(text, from: now()) }
  }

  /// The time at which an item expires.
  static func expiry(_ text: String) throws -> Expiry {
    if text == Expiry.word { return .never }
    return .time(try option { () throws(ValueError) in try expirySeconds(text) })
  }

  /// The time at which an item expires, in Unix seconds, for a text other than ``Expiry/word``.
  static func expirySeconds(_ text: String) throws(ValueError) -> Int64 {
    do throws(ValueError) { return try TimeText.ahead(text, of: now()) } catch {
      let reason = error.reason == TimeText.forms ? "\(error.reason), or \(Expiry.word)" : error.reason
      throw ValueError(reason: reason)
    }
  }

  /// Checks the expiry of an item in a batch. Nobody is asked whether an expiry in the past is intended: it is refused
  /// unless `allowsPast` is true.
  static func checkedExpiry(_ time: Int64, allowsPast: Bool) throws(ValueError) -> Int64 {
    guard time >= 0 else { throw ValueError(reason: "Unix time is a number of seconds since 1970, so not below 0") }
    guard time <= Timestamp.last else {
      throw ValueError(reason: "that is after the year 9999; Unix time is a number of seconds")
    }
    guard time > now() else {
      if allowsPast { return Expiry.time(time).wire }
      let text = Timestamp.format(time)
      throw ValueError(
        reason: "\(text) has passed, so the item would not be served; write a later time or never, or give --expired")
    }
    return time
  }

  private static func now() -> Int64 { Int64(time(nil)) }

  private static func option(_ body: () throws(ValueError) -> Int64) throws -> Int64 {
    do throws(ValueError) { return try body() } catch { throw ValidationError(error.reason) }
  }
}
