internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

// The search for older values in a file that was written before the keeper's start, or by a program that read them
// earlier.
extension Wanted {
  /// The most older versions of an item that are tried.
  private static let mostVersions = 8

  /// Returns the same template with the values from which `present` was most likely made: an earlier value replaces
  /// each present value that is missing from its place, if the earlier value is there. Otherwise, the present value
  /// stays.
  ///
  /// - Parameters:
  ///   - known: earlier renderings of the same template, which are tried first.
  ///   - session: the session in which older versions are fetched; nil if they must not be fetched.
  /// - Throws: ``Failure`` if older versions cannot be fetched now.
  func older(
    in present: borrowing SecretBuffer, known: [Wanted], _ session: Session?, name: String
  ) throws(Failure) -> Wanted {
    let actions = template.actions
    let rewriting = present.withBytes { Rewriting(of: rendering, template, as: $0) }
    let missing = Set(actions.indices.filter { !rewriting.fates[$0].stands }.map { actions[$0].item })
    var fetched = rendering.fetched.copy()
    var isAny = false
    for item in missing {
      if addKnown(item, of: known, in: present, to: &fetched, name) {
        isAny = true
      } else if let session, item.field == nil, let last = rendering.versions[item.name],
        try addOlder(item, before: last, in: present, to: &fetched, session, name)
      {
        isAny = true
      }
    }
    return isAny ? (try? with(fetched, name)) ?? self : self
  }

  private func addKnown(
    _ item: ItemReference, of known: [Wanted], in present: borrowing SecretBuffer, to fetched: inout FetchedItems,
    _ name: String
  ) -> Bool {
    for known in known {
      guard let version = known.rendering.versions[item.name], version != rendering.versions[item.name] else {
        continue
      }
      let isThere = known.rendering.fetched.withBytes(of: item) { value in
        stands(item, version: version, value, in: present, name)
      }
      guard isThere else { continue }
      known.rendering.fetched.withBytes(of: item) { fetched.add(item, version: version, $0) }
      return true
    }
    return false
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
      let isThere = value.withBytes { stands(item, version: version, $0, in: present, name) }
      guard isThere else { continue }
      value.withBytes { fetched.add(item, version: version, $0) }
      return true
    }
    return false
  }

  /// Returns true if another value of an item stands in every place where the template puts the item.
  private func stands(
    _ item: ItemReference, version: Int, _ value: RawSpan, in present: borrowing SecretBuffer, _ name: String
  ) -> Bool {
    var tried = rendering.fetched.copy()
    tried.add(item, version: version, value)
    guard let other = try? with(tried, name) else { return false }
    let (actions, places) = (other.template.actions, other.rendering.places)
    let mine = actions.indices.filter { actions[$0].item == item }
    // A search for the value alone is cheap, and excludes most values.
    let isAnywhere = other.rendering.bytes.withBytes { rendered in
      present.withBytes { present in
        mine.allSatisfy { present.firstPlace(of: rendered.extracting(places[$0]), from: 0) != nil }
      }
    }
    guard isAnywhere else { return false }
    let fates = present.withBytes { Rewriting(of: other.rendering, other.template, as: $0).fates }
    return mine.allSatisfy { fates[$0].stands }
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
