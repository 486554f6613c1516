internal import CSystemd
internal import VaultCore
internal import VaultService

/// The objects that this daemon serves at one path of a bus and everywhere below it.
///
/// sd-bus has tables of methods and properties for that purpose, but it wants the value of a property at once, and here
/// the caller must be known first. So this class takes all calls itself, and leaves only the errors for missing methods
/// to sd-bus.
@safe final class BusObjects: BusPart {
  /// Returns the interfaces of the object with this path; nil if there is none. It may throw the answer for a path
  /// whose existence is not to be told. It is asked before anybody knows who calls, so a call whose answer depends on
  /// the caller is left to the method.
  typealias Find = (String) throws(BusError) -> [BusInterface]?

  /// The most bytes of a call, about as many as a frame of the socket for clients may have.
  private static let longest = 2 << 20
  /// The most characters of the types of a call for properties.
  private static let longestPropertyCall = 3

  private let prefix: String
  private let peers: BusPeers
  private let find: Find
  private weak var bus: Bus?
  /// Returns true for a call that needs the descriptors that came with it; it may throw the answer. It runs before the
  /// caller is known, and the descriptors of any program would stay open here, so it must check the sender. Set once.
  var keepsDescriptors: (BusMessage) throws(BusError) -> Bool = { _ in false }
  // Owned by this object while there is a connection; the slot holds an unowned pointer to this object.
  private var slot: OpaquePointer?

  /// Serves on `bus` from now on, for as long as the bus lives.
  ///
  /// - Parameters:
  ///   - prefix: the path at and below which there are objects.
  ///   - peers: the callers on the same bus.
  init(under prefix: String, on bus: Bus, for peers: BusPeers, find: @escaping Find) {
    (self.prefix, self.bus, self.peers, self.find) = (prefix, bus, peers, find)
    bus.add(self)
  }

  deinit { remove() }

  func install(on connection: OpaquePointer) {
    // This fails only for an invalid path, and for a path that is served already.
    unsafe sd_bus_add_fallback(
      connection, &slot, prefix,
      { message, objects, _ in
        guard let message = unsafe message, let objects = unsafe objects else { return 0 }
        // Any caller may have put a secret into any call.
        unsafe sd_bus_message_sensitive(message)
        defer { Stack.wipeRegisters() }
        return unsafe Unmanaged<BusObjects>.fromOpaque(objects).takeUnretainedValue().take(BusMessage(message)) ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func remove() {
    unsafe sd_bus_slot_unref(slot)
    unsafe slot = nil
  }

  /// Tells one peer that properties of an object have changed, with their values, if the peer keeps properties.
  ///
  /// The signal reaches the peer's connection whatever the connection listens for. A program that reads properties one
  /// by one may not expect it: go-keyring takes the first signal that comes for the end of its prompt.
  func changed(
    _ properties: [String], of interface: BusInterface, at path: String, for peer: BusPeer
  ) throws(BusError) {
    guard peer.keepsProperties else { return }
    try bus?.signal("PropertiesChanged", of: BusProperties.interface, at: path, to: peer.name) {
      writer throws(BusError) in
      writer.string(interface.name)
      try interface.write(properties, of: path, for: peer, to: writer)
      writer.strings([])
    }
  }

  /// Takes a call; false if there is no such method, which sd-bus then answers.
  func take(_ message: BusMessage) -> Bool {
    guard let path = message.path, let interface = message.interface, let member = message.member,
      let sender = message.sender
    else { return false }
    let began = peers.clock.monotonic()
    func request(_ kept: BusMessage, size: Int = 0, giving answer: String, fault: BusError? = nil) -> BusRequest {
      BusRequest(
        kept, at: path, from: sender, size: size, hasDescriptors: kept === message, answer: answer, on: bus,
        fault: fault)
    }
    func take(_ request: BusRequest, _ work: @escaping BusPeers.Work) {
      peers.charge(sender, since: began)
      peers.take(request, work)
    }
    do throws(BusError) {
      guard let interfaces = try find(path) else { throw .unknownObject(path) }
      switch (interface, member) {
      case (BusIntrospection.interface, "Introspect"):
        try message.check("")
        request(message, giving: "s").reply { $0.string(BusIntrospection.describe(interfaces)) }
        peers.charge(sender, since: began)
      case (BusProperties.interface, _):
        // Longer types are wrong anyway.
        let isShort = message.signature.utf8.count <= Self.longestPropertyCall
        let (kept, size) = try isShort ? keep(message) : (message, 0)
        guard let call = try BusProperties.call(member, kept, path, interfaces) else { return false }
        take(request(kept, size: size, giving: call.answer), call.work)
      default:
        guard let method = interfaces.first(where: { $0.name == interface })?.method(member) else { return false }
        try message.check(BusInterface.signature(method.takes))
        let (kept, size) = try keep(message)
        take(request(kept, size: size, giving: BusInterface.signature(method.gives)), method.answer)
      }
    } catch {
      // The values are not looked at any more, so none is kept while the call waits for its turn.
      guard let empty = try? message.detached(atMost: Self.longest, withValues: false).copy else { return false }
      take(request(empty, giving: "", fault: error)) { _, _ throws(BusError) in throw error }
    }
    return true
  }

  /// Returns the call as it is kept until it is answered, and the approximate number of bytes in its values.
  private func keep(_ message: BusMessage) throws(BusError) -> (BusMessage, size: Int) {
    if try keepsDescriptors(message) { return (message, try message.weigh(atMost: Self.longest)) }
    return try message.detached(atMost: Self.longest)
  }
}

extension BusMessage {
  /// Throws unless the message has values of exactly these types.
  fileprivate func check(_ types: String) throws(BusError) {
    let signature = signature
    if signature != types { throw .expected(types, not: signature) }
  }
}
