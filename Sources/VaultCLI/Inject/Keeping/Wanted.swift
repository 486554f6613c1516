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
}
