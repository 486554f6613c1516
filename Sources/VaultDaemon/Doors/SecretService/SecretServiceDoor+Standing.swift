internal import Logging
internal import VaultModel
internal import VaultService

// The name on the bus: whether this daemon owns it, which other program does, and the bus that is handed to a daemon
// without one.
extension SecretServiceDoor {
  /// The reason why this daemon must not take the name, or does not have it, and the remedy.
  struct NameProblem: Equatable {
    let text: String
    let advice: String?

    init(_ text: String, _ advice: String? = nil) { (self.text, self.advice) = (text, advice) }

    var sentence: String { advice.map { "\(text); \($0)" } ?? text }
  }

  /// Takes the name if the settings and the vault's slots allow it, and otherwise gives it back.
  func lookAtName() {
    guard isOn else { return }
    guard let obstacle = obstacle() else {
      standing.obstacle = nil
      return name.request()
    }
    if standing.obstacle != obstacle {
      standing.obstacle = obstacle
      log.error("secret-service: \(obstacle.sentence)")
    }
    if name.state != .none { name.release() }
  }

  /// Learns who owns the name, if that is another program.
  func lookAtOwner() {
    switch name.state {
    case .taken, .lost: break
    case .none, .requested, .owned, .refused:
      (standing.other, standing.told) = (nil, nil)
      return
    }
    if !standing.follows {
      standing.follows = true
      // One rule for this name alone, which is silent until its owner changes.
      bus.add(BusMatch(ownerOf: name.name) { [weak self] _ in self?.lookAtOwner() })
    }
    bus.owner(of: name.name) { [weak self] result in
      guard let self, name.state == .taken || name.state == .lost else { return }
      standing.other = (try? result.get()) ?? nil
      guard let problem = nameProblem, problem != standing.told else { return }
      standing.told = problem
      log.error("secret-service: \(problem.sentence)")
    }
  }

  /// The reason why programs do not find this vault although the settings turn the Secret Service on; nil if they find
  /// it, or if the bus has not answered yet.
  var nameProblem: NameProblem? {
    guard isOn else { return nil }
    if let obstacle = standing.obstacle { return obstacle }
    guard bus.isConnected else {
      return bus.isGreeting ? nil : NameProblem("no session bus, so desktop programs do not find this vault")
    }
    let name = name.name
    switch self.name.state {
    case .owned, .requested: return nil
    case .none: return NameProblem("this vault does not have the name \(name)", "`vault reload` takes it")
    case .refused(let error): return NameProblem("the bus refuses \(name): \(error)", "see its configuration")
    case .taken, .lost:
      guard let other = standing.other else {
        return NameProblem("another program had \(name), and is gone", "`vault reload` takes the name")
      }
      return NameProblem(
        "\(other.text) owns \(name), so desktop programs find their keys there and not in this vault",
        "`vault secret-service enable` keeps it from starting; once it has ended, `vault reload` takes the name")
    }
  }

  /// The warning for the status.
  var warning: VaultWarning? { nameProblem.map { VaultWarning(.secretService, $0.text, $0.advice) } }

  // MARK: Another bus

  /// The time in which a bus that was handed over must have given this daemon its name, in nanoseconds.
  private static let joinLimit: Int64 = 5_000_000_000

  /// Joins the session bus at an address if there is none, and takes the name there.
  ///
  /// - Parameter then: gets the reason why that failed, or nil once this daemon has the name. It runs once.
  func join(_ text: String, then: @escaping (Refusal?) -> Void) {
    do throws(Refusal) {
      let address = try BusAddress.handed(text)
      guard isOn else {
        throw .misconfigured("secret-service is off in the settings")
      }
      if let obstacle = obstacle() { throw .misconfigured(obstacle.sentence) }
      if bus.isConnected || bus.isGreeting, isOurs(address) {
        if name.state == .owned { return then(nil) }
        awaitName(then)
        return name.request()
      }
      if bus.isConnected || bus.isGreeting {
        throw .busy("this daemon is connected to another session bus, \(bus.address?.text ?? "")")
      }
      try address.checkListener()
      awaitName(then)
      bus.join(address) { [weak self] isConnected in
        if !isConnected { self?.answerWaiting(.misconfigured("no bus answers at \(text)")) }
      }
    } catch {
      then(error)
    }
  }

  /// True for the address of the bus that this daemon is connected to.
  private func isOurs(_ address: BusAddress) -> Bool {
    bus.address?.leads(to: address) == true || address.busID != nil && address.busID == bus.id
  }

  /// Lets `then` wait for the name.
  private func awaitName(_ then: @escaping (Refusal?) -> Void) {
    let isFirst = standing.waiting.isEmpty
    standing.waiting.append(then)
    guard isFirst else { return }
    standing.callOff = timer.after(Self.joinLimit) { [weak self] in
      guard let self else { return }
      bus.giveUpJoining()
      answerWaiting(.busy("the bus did not give this daemon the name \(name.name) in time"))
    }
  }

  /// Answers the callers that wait for the name, once its state is decided.
  func tellWaiting() {
    guard !standing.waiting.isEmpty else { return }
    switch name.state {
    case .none, .requested: break
    case .owned: answerWaiting(nil)
    case .refused(let error): answerWaiting(.misconfigured("the bus refuses \(name.name): \(error)"))
    case .taken, .lost:
      bus.owner(of: name.name) { [weak self] result in
        let other = ((try? result.get()) ?? nil)?.text ?? "another program"
        self?.answerWaiting(.busy("\(other) owns \(self?.name.name ?? "") on the bus"))
      }
    }
  }

  private func answerWaiting(_ refusal: Refusal?) {
    standing.callOff()
    let waiting = standing.waiting
    (standing.waiting, standing.callOff) = ([], {})
    for then in waiting { then(refusal) }
  }

  /// The state of the door that concerns its name on the bus.
  struct Standing {
    /// The reason not to take the name, as last determined.
    var obstacle: NameProblem?
    /// The other program that owns the name.
    var other: NameOwner?
    /// The problem that was last written to the log.
    var told: NameProblem?
    /// True once the owner of the name is followed.
    var follows = false
    /// The closures that wait for the name.
    var waiting: [(Refusal?) -> Void] = []
    /// Cancels the time limit for the closures in ``waiting``.
    var callOff: () -> Void = {}
  }
}
