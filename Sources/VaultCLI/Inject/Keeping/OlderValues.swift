internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

// The search for older values in a file that was written before the keeper's start, or by a program that read them
// earlier.
extension Wanted {
  /// The most older versions of an item that are tried.
  private static let mostVersions = 8

  /// Returns the same template with older values, if every present value that is missing from its place in `present`
  /// has an older one there; nil if an older value is not found.
  ///
  /// - Throws: ``Failure`` if that cannot be determined now.
  func older(in present: borrowing SecretBuffer, _ session: Session, name: String) throws(Failure) -> Wanted? {
    var fetched = rendering.fetched.copy()
    let actions = template.actions
    let rewriting = present.withBytes { Rewriting(of: rendering, template, as: $0) }
    let missing = Set(actions.indices.filter { !rewriting.fates[$0].stands }.map { actions[$0].item })
    for item in missing {
      guard item.field == nil, let last = rendering.versions[item.name],
        try addOlder(item, before: last, in: present, to: &fetched, session, name)
      else { return nil }
    }
    return try? with(fetched, name)
  }

  private func addOlder(
    _ item: ItemReference, before last: Int, in present: borrowing SecretBuffer, to fetched: inout FetchedItems,
    _ session: Session, _ name: String
  ) throws(Failure) -> Bool {
    for version in stride(from: last - 1, through: max(1, last - Self.mostVersions), by: -1) {
      let value: SecretBuffer
      do throws(Failure) {
        value = try session.call { vault in try vault.get(item.name.text, version: version, expired: true) }
      } catch {
        if error.exit == .retry || error.exit == .unavailable { throw error }
        // There is no such version, or this caller may not read it.
        continue
      }
      var tried = rendering.fetched.copy()
      value.withBytes { tried.add(item, version: version, $0) }
      guard let other = try? with(tried, name), other.stands(item, in: present) else { continue }
      value.withBytes { fetched.add(item, version: version, $0) }
      return true
    }
    return false
  }

  /// Returns true if an item's value is everywhere that the template puts it.
  private func stands(_ item: ItemReference, in present: borrowing SecretBuffer) -> Bool {
    let fates = present.withBytes { Rewriting(of: rendering, template, as: $0).fates }
    let actions = template.actions
    return actions.indices.allSatisfy { actions[$0].item != item || fates[$0].stands }
  }

  private func with(_ fetched: borrowing FetchedItems, _ name: String) throws -> Wanted {
    let template = try Template(template.source.withBytes { SecretBuffer(copying: $0) })
    let rendering = try Rendering(template, fetched.copy(), name: name)
    return Wanted(template, rendering)
  }
}

extension Rewriting.Fate {
  /// True for a value in its place.
  var stands: Bool {
    switch self {
    case .stands: true
    case .moved, .replaced, .gone, .empty: false
    }
  }
}
