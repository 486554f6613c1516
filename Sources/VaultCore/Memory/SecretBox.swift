/// A secret that closures and threads share. The secret is wiped when the last of them releases it.
package final class SecretBox: Sendable {
  package let bytes: SecureBytes

  package init(_ bytes: consuming SecureBytes) { self.bytes = bytes }
}
