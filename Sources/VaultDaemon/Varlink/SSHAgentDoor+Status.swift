internal import VaultService
internal import VaultWire

// The ssh-agent, as Status tells of it.
extension SSHAgentDoor {
  /// The state of it: whether it is on, where, and how many keys it offers a caller.
  func state(for caller: VaultService.Caller) -> Wire.SSHAgent {
    // What cannot be read now may be a key.
    let listing = isOn ? try? keys.keys(for: caller) : nil
    return Wire.SSHAgent(
      on: isOn, socket: socket, keys: listing.flatMap { $0.isWhole ? $0.keys.count : nil },
      added: isOn ? sessionKeys.all.count : 0)
  }
}
