internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A template and its rendering.
final class Wanted {
  let template: Template
  let rendering: Rendering
  /// The names that may have another item since the values were fetched.
  private var others = ChangedNames()

  init(_ template: consuming Template, _ rendering: consuming Rendering) {
    self.template = template
    self.rendering = rendering
  }

  /// The version of each inserted item that still has its name, for receipts.
  var versions: [ItemName: Int] { rendering.versions.without(others) }

  /// Notes that names may have other items than those whose values are here.
  func drop(_ names: ChangedNames) { others.add(names) }

  /// Returns true if both renderings have the same bytes.
  func gives(_ other: Wanted) -> Bool { rendering.bytes.isEqual(to: other.rendering.bytes) }

  /// The ``versions`` of the items whose values all stand in their places in a text.
  func standing(in text: borrowing SecretBuffer) -> [ItemName: Int] {
    let fates = text.withBytes { Rewriting(of: rendering, template, as: $0).fates }
    let lacking = Set(template.actions.indices.filter { !fates[$0].stands }.map { template.actions[$0].item.name })
    return versions.filter { !lacking.contains($0.key) }
  }
}
