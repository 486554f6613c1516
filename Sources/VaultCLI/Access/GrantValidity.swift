internal import Glibc
internal import VaultWire

extension Wire.Permission {
  /// True when the grant has reached its end. time(2) may lag the daemon's clock by some milliseconds, and then returns
  /// the second before; hence the extra second.
  var hasEnded: Bool { !active && until.map { $0 <= Int64(time(nil)) + 1 } ?? false }

  /// The end of the grant in a list, or the reason why the grant does not count; empty for a grant that counts and has
  /// no end.
  ///
  /// - Parameter word: the word before an end that is still to come.
  func validity(until word: String) -> String {
    guard let until else { return active ? "" : Self.ineffective }
    let end = LocalTime.text(until)
    if hasEnded { return "ended \(end)" }
    return active ? word + end : "\(word)\(end), \(Self.ineffective)"
  }

  private static let ineffective = "not in effect"
}
