public import VaultBytes
public import VaultModel
public import VaultWire

/// A program that keeps keys for the daemon in a place whose library must not be loaded into the daemon. It reads one
/// request from descriptor 0, answers it there, and exits.
public struct KeystoreProgram: Sendable {
  let name: String
  /// Seconds after which the program ends, whatever it is doing. The daemon gives up earlier.
  let limit: UInt32
  /// Carries out the request. Its second argument holds the key to store, and is empty for other operations.
  let serve: @Sendable (KeystoreRequest, borrowing SecretBuffer) throws(KeystoreError) -> KeystoreReply

  public init(
    name: String, limit: UInt32 = 30,
    serve: @escaping @Sendable (KeystoreRequest, borrowing SecretBuffer) throws(KeystoreError) -> KeystoreReply
  ) {
    self.name = name
    self.limit = limit
    self.serve = serve
  }

  /// Runs the program and returns its exit code (sysexits.h).
  public func main(_ arguments: [String]) -> Int32 {
    HelperProgram(name: name, purpose: "Keeps a key", limit: limit) { answer() }.main(arguments)
  }

  /// Returns the reply to the one request; nil when no request could be read.
  private func answer() -> SecretBuffer? {
    guard let frame = HelperProgram.receive(limit: KeystoreRequest.frameLimit), let request = KeystoreRequest(frame)
    else { return nil }
    let key: SecretBuffer
    if request.operation == .store {
      guard let given = KeystoreRequest.key(frame) else { return nil }
      key = given
    } else {
      key = SecretBuffer()
    }
    do throws(KeystoreError) { return try serve(request, key).frame() } catch {
      return KeystoreReply.failed(error).frame()
    }
  }
}
