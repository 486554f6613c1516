internal import VaultModel
internal import VaultService
internal import VaultWire

// The reply to the method SecretService.
extension SecretServiceDoor {
  /// Collects what the settings, the bus and the vault say, for a caller.
  ///
  /// - Parameter reloads: true to have the bus read its service files again first.
  func describe(for caller: VaultService.Caller, reloads: Bool, then: @escaping (Wire.SecretServiceReply) -> Void) {
    guard bus.isConnected || bus.isGreeting else { return then(reply(for: caller)) }
    guard !reloads else {
      return bus.reloadServices { [weak self] in self?.describe(for: caller, reloads: false, then: then) }
    }
    bus.owner(of: name.name) { [weak self] owner in
      guard let self else { return }
      bus.isActivatable(name.name) { [weak self] isActivatable in
        guard let self else { return }
        do throws(BusError) { then(reply(try owner.get(), try isActivatable.get(), for: caller)) } catch {
          then(reply(unknown: error, for: caller))
        }
      }
    }
  }

  /// - Parameters:
  ///   - isActivatable: nil if the bus has not told who has the name, nor whether it would start a program for it.
  ///   - error: the reason for that, if the bus is there.
  private func reply(
    _ owner: NameOwner? = nil, _ isActivatable: Bool? = nil, unknown error: BusError? = nil,
    for caller: VaultService.Caller
  ) -> Wire.SecretServiceReply {
    let (excluding, present) = (obstacle(), nameProblem)
    let silent = error.map { NameProblem("the session bus does not tell which program owns \(name.name): \($0)") }
    let problem = excluding ?? silent ?? present
    return Wire.SecretServiceReply(
      on: isOn, name: name.name, bus: bus.address?.text, connected: bus.isConnected,
      owner: owner.map { Wire.BusOwner(pid: Int($0.pid), program: $0.program, own: $0.isOwn) },
      activatable: isActivatable, problem: problem?.text, advice: problem?.advice,
      excluded: excluding == nil ? nil : true,
      collections: keyring.overview(for: caller).map {
        Wire.KeyringCollection(
          id: $0.collection.element, label: $0.label, isDefault: $0.isDefault, items: $0.items)
      },
      prompts: vault.prompts.begun.count)
  }
}
