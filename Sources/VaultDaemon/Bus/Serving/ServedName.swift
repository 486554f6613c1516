internal import NIOCore

/// A well-known name on a bus under which this daemon serves.
///
/// The name is asked for at once or not at all: from a queue, this daemon would get the name at the moment when its
/// owner leaves. A bus that comes back is asked for the name anew.
final class ServedName {
  enum State: Equatable {
    /// The name is not wanted, or there is no bus.
    case none
    /// The bus was asked for the name.
    case requested
    case owned
    /// Another program owns the name.
    case taken
    /// The bus gave the name to somebody else, or took it back.
    case lost
    /// The bus refused the name.
    case refused(BusError)
  }

  let name: String
  private weak var bus: Bus?
  private(set) var state = State.none
  private var isWanted = false
  /// The number of the last request. A later one, or another bus, makes an answer to it out of date.
  private var question = 0
  /// Runs after the state has changed.
  var onChange: () -> Void = {}

  /// The flag `DBUS_NAME_FLAG_DO_NOT_QUEUE`.
  private static let atOnceOrNever: UInt32 = 4
  /// The pauses, in seconds, before the bus is asked again.
  private static let pauses: [Int64] = [1, 2, 4, 8, 16]

  init(_ name: String, on bus: Bus) {
    self.name = name
    self.bus = bus
    bus.add(BusMatch(driver: "NameLost", name) { [weak self] _ in self?.lost() })
    bus.onChange { [weak self] in self?.busChanged() }
  }

  /// Asks for the name now and on each bus that comes, until ``release()``. If another program owns the name, this may
  /// be called again later.
  func request() {
    isWanted = true
    guard let bus, bus.isConnected, state != .owned else { return }
    question += 1
    take(.requested)
    ask(question, Self.pauses[...])
  }

  /// Asks the bus for the name, and asks again after `pauses` if the call fails.
  private func ask(_ number: Int, _ pauses: ArraySlice<Int64>) {
    guard let bus else { return }
    let arguments: [BusValue] = [.string(name), .unsigned(Self.atOnceOrNever)]
    bus.call(BusMethod.Object.driver.method("RequestName"), arguments) { [weak self] result in
      guard let self, number == question else { return }
      do throws(BusError) {
        // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER and _ALREADY_OWNER.
        take([1, 4].contains(try result.get().unsigned()) ? .owned : .taken)
      } catch {
        take(.refused(error))
        guard let pause = pauses.first else { return }
        self.bus?.after(.seconds(pause)) { [weak self] in
          if let self, number == question { ask(number, pauses.dropFirst()) }
        }
      }
    }
  }

  /// Gives the name back.
  func release() {
    isWanted = false
    question += 1
    take(.none)
    bus?.call(BusMethod.Object.driver.method("ReleaseName"), [.string(name)]) { _ in }
  }

  private func lost() { if state == .owned { take(.lost) } }

  private func busChanged() {
    question += 1
    take(.none)
    if isWanted { request() }
  }

  private func take(_ new: State) {
    guard new != state else { return }
    state = new
    onChange()
  }
}
