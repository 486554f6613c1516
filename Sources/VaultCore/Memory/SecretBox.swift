/// A secret that closures and threads pass on: the last of them that lets go wipes it.
package final class SecretBox: Sendable {
  package let bytes: SecureBytes

  package init(_ bytes: consuming SecureBytes) { self.bytes = bytes }
}
