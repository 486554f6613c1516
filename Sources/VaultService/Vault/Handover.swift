package import VaultCore

/// A secret that one thread hands to another: the first thread puts it in, the second takes it out once.
///
/// `@unchecked` is safe because the event loop gives the handover away before the worker starts, and accesses it again
/// only after the worker is done. Starting the worker and learning of its end order the accesses of the two threads.
package final class Handover: @unchecked Sendable {
  private var content: SecureBytes?
  private var isTaken = false

  package init(_ content: consuming SecureBytes) { self.content = consume content }

  /// A new handover with a copy of the secret; nil if there is no secret here.
  package func copy() -> Handover? { withSecret { secret in Handover(secret.withBytes { SecureBytes(copying: $0) }) } }

  /// Takes the secret out; nil if it was taken before.
  package func take() -> SecureBytes? {
    isTaken = true
    return content.take()
  }

  /// Lends the secret without taking it; nil if it was taken before. If `body` takes the secret, it is wiped after
  /// `body` returns.
  package func withSecret<R: ~Copyable, E: Error>(_ body: (borrowing SecureBytes) throws(E) -> R) throws(E) -> R? {
    // The secret is taken out and put back, because an optional noncopyable value cannot be borrowed in place.
    guard let secret = content.take() else { return nil }
    let result: Result<R, E>
    do throws(E) { result = .success(try body(secret)) } catch { result = .failure(error) }
    if !isTaken { content = consume secret }
    return try result.get()
  }
}
