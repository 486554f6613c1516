internal import VaultClient
internal import VaultModel
internal import VaultWire

extension Session {
  /// Deletes items in one call, or in as many calls as the daemon's limits require.
  ///
  /// - Parameters:
  ///   - now: true to delete the items for good, without the trash.
  ///   - didDelete: called after each call with its items, and with the seconds by which the trash ages before they are
  ///     gone; nil if they are gone.
  func delete(
    _ names: ArraySlice<String>, now: Bool = false, _ didDelete: (_ part: ArraySlice<String>, _ kept: Int?) -> Void
  ) throws(Failure) {
    var rest = names
    try unlocking { vault in
      var part = rest.prefix(CallLimits.deletions)
      while !rest.isEmpty {
        let kept: Int?
        do { kept = try vault.delete(Array(part), now: now) } catch ClientError.fault(.tooMuch) where part.count > 1 {
          part = part.prefix(part.count / 2)
          continue
        }
        rest = rest.dropFirst(part.count)
        didDelete(part, kept)
        part = rest.prefix(part.count)
      }
    }
  }
}
