internal import VaultCore

// Finger names with the uid of their user, as in `1000/right-thumb`: the form in which a slot that counts for many
// users records them.
extension PresenceTerms {
  static func entries(_ fingers: [String], of uid: UInt32) -> [String] { fingers.map { "\(uid)/\($0)" } }

  /// The finger names recorded for a user, sorted.
  func fingers(of uid: UInt32) -> [String] {
    let mark = "\(uid)/"
    return fingers.filter { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }.sorted()
  }

  /// The record with the fingers that a user has now in place of the old ones.
  func fingers(with names: [String], of uid: UInt32) -> [String] {
    fingers.filter { !$0.hasPrefix("\(uid)/") } + Self.entries(names, of: uid)
  }
}
