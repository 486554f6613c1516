internal import CLinux
internal import Glibc

/// The place where the service manager keeps descriptors for a service until its next process (`FileDescriptorStoreMax=`).
///
/// sd_notify(3) would wait for a manager that does not read, and the whole daemon with it.
struct DescriptorStore {
  private static let message: StaticString = "FDSTORE=1\nFDNAME=credential"

  /// Nil where there is no manager, and nothing is kept.
  private let socket: Int32?

  /// - Parameter address: the value of `NOTIFY_SOCKET`.
  init(_ address: String?) {
    let connected = address.map { unsafe vault_connect_notifications($0) } ?? -1
    socket = connected >= 0 ? connected : nil
  }

  /// Hands a copy of a descriptor over. The manager drops it by itself once the socket is shut down.
  ///
  /// - Returns: false when the manager takes nothing for now, so that it is worth another try.
  func keep(_ descriptor: Int32) -> Bool {
    guard let socket else { return true }
    let text = unsafe UnsafeRawPointer(Self.message.utf8Start).assumingMemoryBound(to: CChar.self)
    // A literal ends with a NUL, and is lent for the call.
    return unsafe vault_send_descriptor(socket, text, descriptor) == 0 || errno != EAGAIN
  }
}
