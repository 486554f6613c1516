internal import VaultWire

/// A template and what it gives.
final class Wanted {
  let template: Template
  let rendering: Rendering

  init(_ template: consuming Template, _ rendering: consuming Rendering) {
    self.template = template
    self.rendering = rendering
  }

  /// True when both give the same bytes.
  func gives(_ other: Wanted) -> Bool { rendering.bytes.isEqual(to: other.rendering.bytes) }
}
