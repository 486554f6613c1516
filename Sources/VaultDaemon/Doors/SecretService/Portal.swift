internal import VaultModel
internal import VaultService

/// The door for the portal of sandboxed programs (xdg-desktop-portal): org.freedesktop.impl.portal.Secret, on the same
/// connection and under the same name as the Secret Service.
///
/// Only the owner of `org.freedesktop.portal.Desktop` is served, because only that owner knows which program asks.
final class Portal {
  static let path = "/org/freedesktop/portal/desktop"
  private static let secretName = "org.freedesktop.impl.portal.Secret"
  private static let requestName = "org.freedesktop.impl.portal.Request"
  /// The most waiting calls for one program. Beyond that number, the program's oldest call ends.
  private static let mostOfOne = 8

  unowned let door: SecretServiceDoor
  let timer: Timer
  /// The most waiting calls. Beyond that number, the program with the most calls loses its oldest one.
  private let most: Int
  private var desktop: BusName?
  private(set) var objects: BusObjects?
  private var calls: [String: PortalCall] = [:]
  private var lastPlace = 0
  /// The connections whose calls end with them.
  private var callers: Set<ObjectIdentifier> = []
  private lazy var secret = [secretInterface]
  private lazy var request = [requestInterface]

  init(_ door: SecretServiceDoor, _ timer: Timer, most: Int) {
    (self.door, self.timer, self.most) = (door, timer, most)
    objects = BusObjects(under: Self.path, on: door.bus, for: door.peers) { [unowned self] path throws(BusError) in
      guard isOn else { return nil }
      if path == Self.path { return secret }
      return calls[path] == nil ? nil : request
    }
    objects?.keepsDescriptors = { [unowned self] message throws(BusError) in
      guard message.member == "RetrieveSecret" else { return false }
      if desktop?.doubt == nil { try check(message.sender) }
      return true
    }
  }

  /// True while the portal is served.
  var isOn = false {
    didSet {
      if isOn, desktop == nil {
        let name = BusName("org.freedesktop.portal.Desktop", on: door.bus)
        name.onChange = { [unowned self, unowned name] in
          for call in calls.values where call.peer.name != name.owner { call.end(.failed) }
        }
        desktop = name
      }
      if isOn != oldValue { if isOn { door.bus.files.expect() } else { door.bus.files.expectNoMore() } }
      if !isOn { for call in calls.values { call.end(.failed) } }
    }
  }

  private func check(_ peer: BusPeer) throws(BusError) { try check(peer.name) }

  private func check(_ caller: String?) throws(BusError) {
    guard let owner = desktop?.owner, owner == caller else {
      let doubt = desktop?.doubt.map { "nobody knows who the portal is: \($0)" }
      throw .denied(doubt ?? "only the portal may ask for this")
    }
  }

  // MARK: Objects

  private var secretInterface: BusInterface {
    BusInterface(
      Self.secretName,
      methods: [
        .init(
          "RetrieveSecret", takes: ["handle": "o", "app_id": "s", "fd": "h", "options": "a{sv}"],
          gives: ["response": "u", "results": "a{sv}"]
        ) { [unowned self] request, peer throws(BusError) in try retrieveOnceKnown(request, peer) }
      ],
      properties: [
        .init("version", "u") { [unowned self] _, peer, writer throws(BusError) in
          try check(peer)
          writer.unsigned(1)
        }
      ])
  }

  private var requestInterface: BusInterface {
    BusInterface(
      Self.requestName,
      methods: [
        .init("Close") { [unowned self] request, peer throws(BusError) in
          try check(peer)
          guard let call = calls[request.path], call.peer === peer else { throw .unknownObject(request.path) }
          request.reply()
          call.end(.cancelled)
        }
      ])
  }

  /// Answers once the bus has told who the portal is. A call that makes the bus start the daemon arrives earlier.
  private func retrieveOnceKnown(_ request: BusRequest, _ peer: BusPeer) throws(BusError) {
    guard let desktop, desktop.doubt != nil else { return try retrieve(request, peer) }
    desktop.whenKnown { [weak self] in
      do throws(BusError) {
        try request.part { () throws(BusError) in try self?.retrieve(request, peer) }
      } catch {
        request.fail(error)
      }
    }
  }

  private func retrieve(_ request: BusRequest, _ peer: BusPeer) throws(BusError) {
    try check(peer)
    let (handle, app, outlet) = try read(request.message)
    guard calls[handle] == nil else {
      throw BusError(name: BusError.malformed.name, text: "there is another request at this path")
    }
    guard outlet.isUsable else { return request.reply { Self.write(.failed, to: $0) } }
    let delivery = PortalCall.Delivery()
    var isLocked = false
    do throws(KeyringFault) {
      try door.keyring.secret(ofApp: app, for: peer.caller) { delivery.outcome = outlet.write($0) }
    } catch {
      guard error == .isLocked else { throw BusError(error) }
      isLocked = true
    }
    if !isLocked, let response = delivery.response {
      guard let answer = request.answerLater() else { return }
      return outlet.close { answer.send { Self.write(response, to: $0) } }
    }
    let group = Self.group(of: app)
    try makeRoom(in: group)
    let wish = try asked { () throws(KeyringFault) in
      try AppWish(app, door.keyring) { [unowned outlet] in delivery.outcome = outlet.write($0) }
    }
    guard let answer = request.answerLater() else { return }
    lastPlace += 1
    let call = PortalCall(handle, of: group, at: lastPlace, self, peer, wish, delivery, outlet, answer)
    keep(call)
    if isLocked { call.ask() } else { call.tried() }
  }

  private func read(
    _ message: BusMessage
  ) throws(BusError) -> (handle: String, app: String, outlet: SecretOutlet) {
    let (handle, app) = (try message.objectPath(), try message.string())
    guard handle.utf8.starts(with: "\(Self.path)/".utf8) else {
      throw BusError(name: BusError.malformed.name, text: "a request is below \(Self.path)")
    }
    do throws(BusError) { return (handle, app, SecretOutlet(try message.file(), among: door.bus.files)) } catch {
      throw BusError(name: BusError.failed.name, text: "the descriptor cannot be taken")
    }
  }

  static func write(_ response: PortalCall.Response, to writer: BusWriter) {
    writer.unsigned(response.rawValue)
    writer.array(of: "{sv}") {}
  }

  // MARK: Calls that wait

  private static func group(of app: String) -> Int {
    var hasher = Hasher()
    hasher.combine(app)
    return hasher.finalize() & 0xff
  }

  private func makeRoom(in group: Int) throws(BusError) {
    func endOldest(of calls: [PortalCall]) { calls.min { $0.place < $1.place }?.end(.failed) }
    let own = calls.values.filter { $0.group == group }
    if own.count >= Self.mostOfOne { endOldest(of: own) }
    if calls.count >= most { endOldest(of: calls.values.ofHolderWithMost(\.group)) }
    guard calls.count < most else { throw .tooMuch("too many requests wait") }
  }

  private func keep(_ call: PortalCall) {
    let peer = call.peer
    calls[call.handle] = call
    guard callers.insert(ObjectIdentifier(peer)).inserted else { return }
    peer.onEnd { [weak self, unowned peer] in
      guard let self else { return }
      callers.remove(ObjectIdentifier(peer))
      for call in calls.values where call.peer === peer { call.end(.failed) }
    }
  }

  func forget(_ call: PortalCall) { calls[call.handle] = nil }
}
