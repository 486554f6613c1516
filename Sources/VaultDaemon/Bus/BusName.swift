/// A well-known name on a bus, and its current owner, whose signals alone are trusted.
final class BusName {
  let name: String
  private let bus: Bus
  /// The owner's unique name; nil while nobody owns the name or there is no bus.
  private(set) var owner: String?
  /// Runs after the owner has changed.
  var onChange: () -> Void = {}

  private static let driver = BusMethod.Object(
    destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")

  init(_ name: String, on bus: Bus) {
    self.name = name
    self.bus = bus
    let driver = Self.driver
    bus.match(
      """
      type='signal',sender='\(driver.destination)',path='\(driver.path)',interface='\(driver.interface)',\
      member='NameOwnerChanged',arg0='\(name)'
      """
    ) { [weak self] message in
      // Anyone can send this daemon a signal with these fields, but only the bus itself with this sender.
      guard message.sender == driver.destination else { return }
      guard let change = try? (message.string(), message.string(), message.string()) else { return }
      self?.take(change.2.isEmpty ? nil : change.2)
    }
    bus.onChange { [weak self] in self?.busChanged() }
  }

  /// Runs `handler` for each signal `member` of `interface` that the owner sends, from any of its objects.
  ///
  /// - Parameter first: the required first argument; nil for any.
  func onSignal(
    _ interface: String, _ member: String, first: String? = nil, _ handler: @escaping (BusMessage) -> Void
  ) {
    let argument = first.map { ",arg0='\($0)'" } ?? ""
    let rule = "type='signal',sender='\(name)',interface='\(interface)',member='\(member)'\(argument)"
    bus.match(rule) { [weak self] message in
      guard let self, let owner, message.sender == owner else { return }
      handler(message)
    }
  }

  /// An object of the owner.
  func object(_ path: String, _ interface: String) -> BusMethod.Object {
    BusMethod.Object(destination: name, path: path, interface: interface)
  }

  private func busChanged() {
    guard bus.isConnected else { return take(nil) }
    bus.call(Self.driver.method("GetNameOwner"), [.string(name)]) { [weak self] result in
      // Nobody owns the name, or the call failed. A later signal reports a new owner.
      guard let reply = try? result.get() else { return }
      self?.take(try? reply.string())
    }
  }

  private func take(_ new: String?) {
    guard new != owner else { return }
    owner = new
    onChange()
  }
}
