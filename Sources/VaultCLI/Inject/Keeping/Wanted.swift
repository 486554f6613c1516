internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A template and its rendering.
final class Wanted {
  let template: Template
  let rendering: Rendering

  init(_ template: consuming Template, _ rendering: consuming Rendering) {
    self.template = template
    self.rendering = rendering
  }

  /// Returns true if both renderings have the same bytes.
  func gives(_ other: Wanted) -> Bool { rendering.bytes.isEqual(to: other.rendering.bytes) }

  /// The versions of the items whose values all stand in their places in a text.
  func standing(in text: borrowing SecretBuffer) -> [ItemName: Int] {
    let fates = text.withBytes { Rewriting(of: rendering, template, as: $0).fates }
    let lacking = Set(template.actions.indices.filter { !fates[$0].stands }.map { template.actions[$0].item.name })
    return rendering.versions.filter { !lacking.contains($0.key) }
  }
}
