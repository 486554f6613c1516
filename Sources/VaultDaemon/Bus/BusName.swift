internal import NIOCore

/// A well-known name on a bus, and its current owner, whose signals alone are trusted.
final class BusName {
  let name: String
  private let bus: Bus
  /// The owner's unique name; nil while nobody owns the name, nobody knows the owner, or there is no bus.
  private(set) var owner: String?
  /// The reason why nobody knows who owns the name; nil while that is known, and while there is no bus.
  private(set) var doubt: String?
  /// The number of the last question about the owner. A signal, or another bus, makes an answer to it out of date.
  private var question = 0
  /// Runs after the owner has changed.
  var onChange: () -> Void = {}
  /// The closures that wait until the owner is known.
  private var waiting: [() -> Void] = []

  /// True once the last question has failed.
  private var hasGivenUp = false

  /// The pauses, in seconds, before the owner is asked for again. After the last question, a signal tells more, or
  /// somebody who needs the owner has it asked for again.
  private static let pauses: [Int64] = [1, 2, 4, 8, 16]

  init(_ name: String, on bus: Bus) {
    self.name = name
    self.bus = bus
    bus.add(
      BusMatch(ownerOf: name) { [weak self] owner in
        self?.question += 1
        self?.take(owner)
      })
    bus.onChange { [weak self] in self?.busChanged() }
    if bus.isConnected { busChanged() }
  }

  /// Runs `then` once the owner of the name is known, or nobody owns the name, or the last question has failed, or the
  /// bus is gone. If the last question has failed before, the owner is asked for again.
  func whenKnown(_ then: @escaping () -> Void) {
    guard doubt != nil else { return then() }
    waiting.append(then)
    if hasGivenUp { begin() }
  }

  private func answerWaiting() {
    let all = waiting
    waiting = []
    for then in all { then() }
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
    guard bus.isConnected else {
      question += 1
      return take(nil)
    }
    doubt = "the bus has not answered yet"
    begin()
  }

  private func begin() {
    question += 1
    hasGivenUp = false
    ask(question, Self.pauses[...])
  }

  /// Asks the bus for the owner, and asks again after `pauses` if the call fails.
  private func ask(_ number: Int, _ pauses: ArraySlice<Int64>) {
    bus.call(BusMethod.Object.driver.method("GetNameOwner"), [.string(name)]) { [weak self] result in
      guard let self, number == question else { return }
      do throws(BusError) { take(try result.get().string()) } catch {
        // A later signal reports the owner.
        if error.isNoService { return take(nil) }
        doubt = "\(error)"
        guard let pause = pauses.first else {
          hasGivenUp = true
          return answerWaiting()
        }
        bus.after(.seconds(pause)) { [weak self] in
          if let self, number == question { ask(number, pauses.dropFirst()) }
        }
      }
    }
  }

  private func take(_ new: String?) {
    (doubt, hasGivenUp) = (nil, false)
    if new != owner {
      owner = new
      onChange()
    }
    answerWaiting()
  }
}
