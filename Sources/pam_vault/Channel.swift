import CLinux

/// One connection to the user's daemon.
struct Channel: ~Copyable {
  private let descriptor: Int32
  private let deadline: Deadline

  /// The result of looking for the daemon.
  enum Found: ~Copyable {
    case connected(Channel)
    /// No process listens on the socket.
    case nobody
    /// The directory, the socket or the listener may belong to somebody else.
    case foreign
    /// An error, so that it is not known whether a daemon listens.
    case failed
  }

  /// Connects to the socket in `directory`, after checking that only the user can have put it there and that the
  /// listener runs as the user. Nothing has been sent when this function returns.
  static func connect(in directory: UnsafePointer<CChar>, until deadline: Deadline) -> Found {
    let opened = unsafe vault_open(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard opened >= 0 else {
      switch vault_errno() {
      case ENOENT: return .nobody
      case ENOTDIR, ELOOP: return .foreign
      default: return .failed
      }
    }
    defer { close(opened) }
    var status = stat()
    guard unsafe fstat(opened, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 == 0,
      fchdir(opened) == 0
    else { return .foreign }
    // From here on the current directory is the one that was checked, whatever its path leads to by now.
    let name: StaticString = "socket"
    guard unsafe fstatat(opened, name.cString, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .nobody }
    guard status.st_mode & UInt32(S_IFMT) == UInt32(S_IFSOCK) else { return .foreign }
    let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard made >= 0 else { return .failed }
    let channel = Channel(descriptor: made, deadline: deadline)
    guard unsafe vault_connect_unix(made, name.cString) == 0 else {
      return vault_errno() == ECONNREFUSED || vault_errno() == ENOENT ? .nobody : .failed
    }
    var peer = vault_peer()
    guard unsafe vault_peer_credentials(made, &peer) == 0, peer.uid == geteuid() else { return .foreign }
    return .connected(channel)
  }

  deinit { close(descriptor) }

  /// Sends one frame; false when the daemon does not take it.
  func send(_ frame: borrowing WipedBytes) -> Bool {
    guard !frame.isBroken else { return false }
    var sent = 0
    while sent < frame.count {
      guard let start = unsafe frame.bytes.baseAddress else { return false }
      let count = unsafe CLinux.send(descriptor, start + sent, frame.count - sent, Int32(MSG_NOSIGNAL))
      if count > 0 {
        sent += count
      } else if !mayGoOn(POLLOUT) {
        return false
      }
    }
    return true
  }

  /// Reads one frame into `frame`, without its NUL; false when no frame comes, or one that does not fit.
  func receive(_ frame: inout WipedBytes) -> Bool {
    frame.clear()
    // Reads one byte at a time, so that no byte of the next frame is taken. A frame has a few hundred bytes.
    while !frame.isBroken {
      var byte: UInt8 = 0
      let count = unsafe read(descriptor, &byte, 1)
      if count == 1 {
        if byte == 0 { return true }
        frame.append(byte)
      } else if count == 0 || !mayGoOn(POLLIN) {
        return false
      }
    }
    return false
  }

  private func mayGoOn(_ events: Int32) -> Bool {
    vault_errno() == EINTR || vault_errno() == EAGAIN && deadline.wait(for: events, on: descriptor)
  }
}
