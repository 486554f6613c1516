/// The reason that a text is not the expected PEM. It quotes nothing of the text.
package struct PEMFault: Error, Hashable, Sendable {
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}
