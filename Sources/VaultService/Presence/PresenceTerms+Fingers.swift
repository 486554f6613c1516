internal import VaultCore

// A slot that counts for many users records whose each finger is: `1000/right-thumb`.
extension PresenceTerms {
  static func entries(_ fingers: [String], of uid: UInt32) -> [String] { fingers.map { "\(uid)/\($0)" } }

  /// The names recorded for a user, sorted.
  func fingers(of uid: UInt32) -> [String] {
    let mark = "\(uid)/"
    return fingers.filter { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }.sorted()
  }

  /// The record to make when a user's fingers are others now.
  func fingers(with names: [String], of uid: UInt32) -> [String] {
    fingers.filter { !$0.hasPrefix("\(uid)/") } + Self.entries(names, of: uid)
  }
}
