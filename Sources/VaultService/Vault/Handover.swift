package import VaultCore

/// Hands a secret from one thread to another: put in by one, taken out once by the other.
///
/// `@unchecked` holds because the event loop gives it away before the worker starts and looks at it again only after the
/// worker is done; the hand-over itself orders the two.
package final class Handover: @unchecked Sendable {
  private var content: SecureBytes?
  private var isTaken = false

  package init(_ content: consuming SecureBytes) { self.content = consume content }

  /// Another one, with a copy of the secret.
  package func copy() -> Handover? { withSecret { secret in Handover(secret.withBytes { SecureBytes(copying: $0) }) } }

  /// The secret, which is then no longer here.
  package func take() -> SecureBytes? {
    isTaken = true
    return content.take()
  }

  /// Lends the secret without taking it. Where `body` has it taken, it is wiped behind that.
  package func withSecret<R: ~Copyable, E: Error>(_ body: (borrowing SecureBytes) throws(E) -> R) throws(E) -> R? {
    // Taken out and put back, because an optional noncopyable value cannot be borrowed in place.
    guard let secret = content.take() else { return nil }
    let result: Result<R, E>
    do throws(E) { result = .success(try body(secret)) } catch { result = .failure(error) }
    if !isTaken { content = consume secret }
    return try result.get()
  }
}
