internal import VaultService
internal import VaultWire

// The ssh-agent's part of the Status reply.
extension SSHAgentDoor {
  /// Returns false if keys must be read before ``state(for:)`` counts them. They are then read in turns of `line`, and
  /// `then` runs after that.
  func canCountKeys(_ line: Line, otherwise then: @escaping () -> Void) -> Bool {
    !isOn || keys.canList(line, otherwise: then)
  }

  /// Returns the agent's state: whether it is on, its socket, and the number of keys that it offers the caller.
  func state(for caller: VaultService.Caller) -> Wire.SSHAgent {
    // A record that cannot be read now may be a key, so the number is then unknown.
    let listing = isOn ? try? keys.keys(for: caller) : nil
    return Wire.SSHAgent(
      on: isOn, socket: socket, keys: listing.flatMap { $0.isWhole ? $0.keys.count : nil },
      added: isOn ? sessionKeys.all.count : 0, locked: lock.isLocked ? true : nil)
  }
}
