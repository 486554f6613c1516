internal import Glibc
internal import VaultBytes
internal import VaultCore
public import VaultHelper
internal import VaultModel
internal import VaultSigning
internal import VaultWire

/// `vault-rsa`: computes with one RSA key that is so large that the daemon could answer nobody meanwhile.
///
/// The key and everything computed from it stay in locked memory and disappear with the process. The daemon ends the
/// process when the vault locks and when the client leaves.
public enum RSAProgram {
  /// Seconds after which the program gives up; making a new key takes a small machine a minute.
  private static let limit: UInt32 = 330
  /// Several times the bytes that libgcrypt takes besides its own pool: a number of the largest key has 1 KiB.
  private static let room = 1 << 20

  public static let program = HelperProgram(
    name: "vault-rsa", purpose: "Computes with a large RSA key", limit: limit, answer: answer)

  @Sendable private static func answer() -> SecretBuffer? {
    HelperProgram.lockMemory(room: room)
    guard let frame = HelperProgram.receiveHeader(limit: RSARequest.frameLimit), let request = RSARequest(frame)
    else { return nil }
    var isWhole = false
    // The kernel fills the key's memory in place.
    let key = SecureBytes(count: max(1, request.keyCount)) { bytes in
      isWhole = request.keyCount == 0 || HelperProgram.receive(into: &bytes)
    }
    guard isWhole else { return nil }
    HelperProgram.endWithDaemon()
    // Everything else on this machine runs first, because only one client waits for this program. If nice(2) fails, the
    // program competes at normal priority.
    _ = nice(10)
    do throws(SigningError) { return RSAReply.made(try make(request.work, key)).frame() } catch {
      return RSAReply.failed(error.reason).frame()
    }
  }

  private static func make(
    _ work: RSARequest.Work, _ text: borrowing SecureBytes
  ) throws(SigningError) -> SecretBuffer {
    switch work {
    case .sign(let name, let digest):
      guard let scheme = SignatureScheme(rawValue: name) else { throw SigningError("an unknown way to sign") }
      let signature = try key(text).sign(digest: digest, scheme)
      return SecretBuffer(copying: unsafe signature.span.bytes)  // Bytes have no padding.
    case .check:
      let key = try key(text)
      do throws(KeyError) { try key.checkPrimes() } catch { throw SigningError(error) }
      return SecretBuffer()
    case .make(let bits, let comment):
      let key = try NewKey.key(.rsa, bits: bits)
      let text = comment == nil ? key.pkcs8() : key.openSSHPrivate(comment: comment)
      return text.withBytes { SecretBuffer(copying: $0) }
    }
  }

  private static func key(_ text: borrowing SecureBytes) throws(SigningError) -> PrivateKey {
    do throws(KeyError) { return try text.withBytes { (text: RawSpan) throws(KeyError) in try PrivateKey(text) } } catch
    {
      throw SigningError(error)
    }
  }
}
