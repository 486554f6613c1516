internal import VaultBytes
internal import VaultCore
internal import VaultWire

/// The facts that decide if the connection must go when there are too many.
extension VarlinkConnection {
  /// The most bytes of a frame that is looked at before its turn. The frames of Attend and Lock are short.
  private static let mostPeeked = 1024

  var pid: Int32 { peer.pid }
  var heard: Int { input.heard }
  var held: Int { input.held }

  var standing: Room.Standing {
    if current.attends { return .attending }
    if input.isUrgent { return .urgent }
    return current.onCancel != nil || input.isScheduled || input.isNew ? .waiting : .idle
  }

  /// Returns true when the next call is Lock, or the Attend of an agent. The call may be still in the socket, because
  /// the connection waits for its turn to be read.
  func looksUrgent() -> Bool {
    guard !isClosing, current.onCancel == nil else { return false }
    // Bytes in the socket were copied, and may be a password.
    defer { Stack.wipeRegisters() }
    if let frame = input.inbound.peek(atMost: Self.mostPeeked) {
      input.isUrgent = Self.isUrgent(frame)
    } else if input.inbound.pendingCount == 0, let socket {
      var isUrgent = false
      _ = clients.takeIncoming(from: socket, peeks: true) { bytes in
        var reader = FrameReader(limit: Self.mostPeeked)
        guard (try? reader.append(bytes)) != nil, let frame = try? reader.next() else { return }
        isUrgent = Self.isUrgent(frame)
      }
      input.isUrgent = isUrgent
    }
    return input.isUrgent
  }

  private static func isUrgent(_ frame: borrowing Frame) -> Bool {
    guard let call = try? Call(frame) else { return false }
    let method = MethodName(frame, call.method)
    return method == .lock || method == .attend
  }
}
