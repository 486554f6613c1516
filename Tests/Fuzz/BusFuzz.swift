import CLinux
import CSystemd
import Glibc
import VaultBytes
import VaultCore
import VaultModel
import VaultStore

@testable import VaultDaemon
@testable import VaultService

@c(LLVMFuzzerTestOneInput)
public func fuzzBus(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // libFuzzer lends `count` bytes for the call.
  BusTrial(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count))).run()
  return 0
}

/// Reads any bytes as calls of programs at the door of the Secret Service and at that of the portal, each with its
/// path, its method and values of these or of other types, and as events between them: locks, unlocks, time, and
/// programs that end.
///
/// Each call gets one answer, at the latest when its program has ended; nothing that is answered while all is shut has
/// a secret; no path that is told is that of a secret for the portal.
final class BusTrial {
  private struct Method {
    let interface: String
    let member: String
    let types: String
  }

  private static let secrets = "org.freedesktop.Secret."
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let portal = "org.freedesktop.impl.portal."
  private static let methods = [
    Method(interface: secrets + "Service", member: "OpenSession", types: "sv"),
    Method(interface: secrets + "Service", member: "CreateCollection", types: "a{sv}s"),
    Method(interface: secrets + "Service", member: "SearchItems", types: "a{ss}"),
    Method(interface: secrets + "Service", member: "Unlock", types: "ao"),
    Method(interface: secrets + "Service", member: "Lock", types: "ao"),
    Method(interface: secrets + "Service", member: "GetSecrets", types: "aoo"),
    Method(interface: secrets + "Service", member: "ReadAlias", types: "s"),
    Method(interface: secrets + "Service", member: "SetAlias", types: "so"),
    Method(interface: secrets + "Collection", member: "Delete", types: ""),
    Method(interface: secrets + "Collection", member: "SearchItems", types: "a{ss}"),
    Method(interface: secrets + "Collection", member: "CreateItem", types: "a{sv}(oayays)b"),
    Method(interface: secrets + "Item", member: "Delete", types: ""),
    Method(interface: secrets + "Item", member: "GetSecret", types: "o"),
    Method(interface: secrets + "Item", member: "SetSecret", types: "(oayays)"),
    Method(interface: secrets + "Session", member: "Close", types: ""),
    Method(interface: secrets + "Prompt", member: "Prompt", types: "s"),
    Method(interface: secrets + "Prompt", member: "Dismiss", types: ""),
    Method(interface: portal + "Secret", member: "RetrieveSecret", types: "osha{sv}"),
    Method(interface: portal + "Request", member: "Close", types: ""),
    Method(interface: properties, member: "Get", types: "ss"),
    Method(interface: properties, member: "GetAll", types: "s"),
    Method(interface: properties, member: "Set", types: "ssv"),
    Method(interface: "org.freedesktop.DBus.Introspectable", member: "Introspect", types: ""),
  ]
  private static let types = [
    "s", "o", "ay", "b", "u", "t", "a{ss}", "ao", "(oayays)", "a{sv}", "v", "as", "h", "aay", "a{so}", "((s)y)",
  ]
  private static let words = [
    "", "plain", "dh-ietf1024-sha256-aes128-cbc-pkcs7", "default", "login", "session", "Label", "Attributes", "Locked",
    "Items", "Collections", "Created", "Modified", "version", "Label\u{e9}", "app_id", "xdg:schema", "a",
    "org.freedesktop.portal.Secret", "org.freedesktop.Secret.Generic", secrets + "Service", secrets + "Collection",
    secrets + "Item", secrets + "Item.Label", secrets + "Item.Attributes", secrets + "Collection.Label",
    portal + "Secret", "text/plain",
  ]
  private static let root = "/org/freedesktop/secrets"
  private static let most = 24

  private let stage = unsafe BusStage.shared
  private let objects: BusObjects
  private let portalObjects: BusObjects
  private let door: SecretServiceDoor
  private var rest: [UInt8]
  /// The paths that are known: those that always are, and those that were told.
  private var paths = [
    root, root + "/collection/login", root + "/collection/session", root + "/collection/vault",
    root + "/aliases/default", root + "/aliases/default/1", "/", root + "/collection/login/0123456789abcdef",
    Portal.path, Portal.path + "/request/1_1/a", Portal.path + "/request/1_1/b",
  ]
  /// The number of the answers that each call has got.
  private var answers: [UInt64: Int] = [:]
  private var lastCookie: UInt64 = 0
  private var pipe: [Int32] = [-1, -1]

  init(_ input: RawSpan) {
    rest = (0..<input.byteCount).reversed().map { input.byte($0) }
    stage.begin()
    door = stage.open(hidesNames: (rest.popLast() ?? 0) & 1 == 1)
    guard let objects = door.objects, let portalObjects = door.portal?.objects else { fatalError("nothing is served") }
    (self.objects, self.portalObjects) = (objects, portalObjects)
    precondition(unsafe pipe2(&pipe, O_CLOEXEC | O_NONBLOCK) == 0)
    door.peers.make = { [stage] name in
      let number = Int32(name.dropFirst(3)) ?? 1
      let caller = stage.caller(number)
      return BusPeer(name, caller, Line(of: caller.uid), runs: { true })
    }
    stage.bus.isSent = { [unowned self] in sent($0) }
  }

  func run() {
    for _ in 0..<Self.most where !rest.isEmpty {
      step()
      stage.run()
    }
    // All programs end, and nothing keeps a call.
    for name in Array(door.peers.known.keys) { door.peers.end(name) }
    stage.run()
    door.isOn = false
    stage.clear(door)
    for prompt in stage.rooms.vault.prompts.all { prompt.dismiss() }
    stage.run()
    precondition(stage.rooms.vault.prompts.all.isEmpty, "a prompt has stayed")
    precondition(answers.values.allSatisfy { $0 == 1 }, "a call has no answer")
    for end in pipe { close(end) }
    stage.bus.isSent = { _ in }
  }

  private func step() {
    switch byte() & 31 {
    case 0: stage.rooms.vault.lock(because: .asked)
    case 1: stage.unlock()
    case 2: stage.rooms.vault.lock(because: .sleep)
    case 3: stage.hands.pass(seconds: Int64(byte()))
    case 4: stage.rooms.vault.prompts.all.first?.dismiss()
    case 5: stage.bus.watcher.fire()
    case 6: door.peers.end(sender())
    case 7:
      var room = [UInt8](repeating: 0, count: 1 << 16)
      while unsafe read(pipe[0], &room, room.count) > 0 {}
    case 8:
      let full = [UInt8](repeating: 0, count: 4096)
      while unsafe write(pipe[1], full, full.count) > 0 {}
    default: call()
    }
  }

  private func call() {
    let shape = byte()
    let method = Self.methods[number(below: Self.methods.count)]
    let types = shape & 7 == 7 ? Self.types[number(below: Self.types.count)] : method.types
    let path = path()
    lastCookie += 1
    guard let message = made(method, at: path, types) else { return }
    answers[lastCookie] = 0
    let objects = path.utf8.starts(with: Portal.path.utf8) ? portalObjects : objects
    // sd-bus answers a call that no object takes.
    if !objects.take(message) { answers[lastCookie] = 1 }
  }

  /// Makes a call as it comes from a bus; nil if it cannot be made.
  private func made(_ method: Method, at path: String, _ types: String) -> BusMessage? {
    var made: OpaquePointer?
    let result = unsafe sd_bus_message_new_method_call(
      stage.bus.connection, &made, nil, path, method.interface, method.member)
    guard result >= 0, let message = unsafe made else { return nil }
    defer { unsafe sd_bus_message_unref(message) }
    precondition(unsafe sd_bus_message_set_sender(message, sender()) >= 0)
    let writer = unsafe BusWriter(message)
    var left = types.utf8[...]
    while !left.isEmpty { unsafe append(&left, message, writer, depth: 0) }
    guard writer.failure == 0, unsafe sd_bus_message_seal(message, lastCookie, 0) >= 0 else { return nil }
    return unsafe BusMessage(message)
  }

  // MARK: Answers

  private func sent(_ message: BusMessage) {
    var (kind, cookie): (UInt8, UInt64) = (0, 0)
    _ = unsafe sd_bus_message_get_type(message.message, &kind)
    guard kind != UInt8(SD_BUS_MESSAGE_SIGNAL) else { return learn(message) }
    precondition(unsafe sd_bus_message_get_reply_cookie(message.message, &cookie) >= 0, "an answer to nothing")
    precondition(answers[cookie] == 0, "a call has two answers")
    answers[cookie] = 1
    guard kind == UInt8(SD_BUS_MESSAGE_METHOD_RETURN) else {
      precondition(message.error?.name.isEmpty == false, "an error has no name")
      return
    }
    learn(message)
  }

  /// Learns the paths that a message tells.
  private func learn(_ message: BusMessage) {
    guard paths.count < 64, unsafe sd_bus_message_rewind(message.message, 1) >= 0 else { return }
    unsafe walk(message.message)
  }

  private func walk(_ message: OpaquePointer) {
    while true {
      var (kind, contents): (CChar, UnsafePointer<CChar>?) = (0, nil)
      guard unsafe sd_bus_message_peek_type(message, &kind, &contents) > 0 else { return }
      switch UInt8(bitPattern: kind) {
      case UInt8(ascii: "a"), UInt8(ascii: "r"), UInt8(ascii: "e"), UInt8(ascii: "v"):
        guard unsafe sd_bus_message_enter_container(message, kind, contents) > 0 else { return }
        unsafe walk(message)
        guard unsafe sd_bus_message_exit_container(message) >= 0 else { return }
      case UInt8(ascii: "o"):
        var text: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_read_basic(message, kind, &text) > 0, let text = unsafe text else { return }
        learn(path: unsafe String(cString: text))
      default:
        var value: (UInt64, UInt64) = (0, 0)
        guard unsafe sd_bus_message_read_basic(message, kind, &value) > 0 else { return }
      }
    }
  }

  private func learn(path: String) {
    if !paths.contains(path) { paths.append(path) }
    guard case .item(let path)? = door.path(path), let id = KeyringID(path.element),
      let name = try? Keyring.name(of: id, in: path.collection)
    else { return }
    let item = try? stage.rooms.vault.openKeychain?.item(named: name)
    precondition(item?.keyring?.attributes.portalApp == nil, "a secret for the portal is told of")
  }

  // MARK: Values

  private func byte() -> UInt8 { rest.popLast() ?? 0 }

  private func number(below bound: Int) -> Int { Int(byte()) % bound }

  private func sender() -> String { ":1.\(1 + byte() % 3)" }

  private func path() -> String {
    let number = Int(byte())
    if number < 240 { return paths[number % paths.count] }
    return Self.root + ["/collection/", "/session/s", "/prompt/s", "/aliases/", "/"][number % 5] + "\(byte())"
  }

  private func text() -> String {
    let number = Int(byte())
    if number < 192 { return Self.words[number % Self.words.count] }
    return String(decoding: bytes(atMost: 32), as: UTF8.self).filter { $0 != "\0" && !$0.unicodeScalars.contains("\0") }
  }

  private func bytes(atMost most: Int) -> [UInt8] { (0..<number(below: most + 1)).map { _ in byte() } }

  /// Appends a value of the first of these types.
  private func append(
    _ types: inout Substring.UTF8View, _ message: OpaquePointer, _ writer: BusWriter, depth: Int
  ) {
    let first = types.removeFirst()
    let kind = CChar(bitPattern: first)
    switch first {
    case UInt8(ascii: "s"): writer.string(text())
    case UInt8(ascii: "o"): writer.path(path())
    case UInt8(ascii: "b"): writer.flag(byte() & 1 == 1)
    case UInt8(ascii: "u"): writer.unsigned(UInt32(byte()))
    case UInt8(ascii: "t"): writer.long(UInt64(byte()))
    case UInt8(ascii: "y"):
      var value = byte()
      _ = unsafe sd_bus_message_append_basic(message, kind, &value)
    case UInt8(ascii: "h"):
      var descriptor = pipe[number(below: 2)]
      _ = unsafe sd_bus_message_append_basic(message, kind, &descriptor)
    case UInt8(ascii: "v"):
      let inner = depth < 3 ? Self.types[number(below: Self.types.count)] : "s"
      writer.variant(of: inner) {
        var inner = inner.utf8[...]
        unsafe append(&inner, message, writer, depth: depth + 1)
      }
    case UInt8(ascii: "a"):
      let element = Self.first(&types)
      if element == "y" {
        let bytes = bytes(atMost: 160)
        bytes.withSpan { writer.bytes($0) }
      } else {
        writer.array(of: element) {
          for _ in 0..<number(below: 4) {
            var inner = element.utf8[...]
            unsafe append(&inner, message, writer, depth: depth + 1)
          }
        }
      }
    case UInt8(ascii: "("), UInt8(ascii: "{"):
      var inner: [UInt8] = []
      var open = 1
      while open > 0 {
        let next = types.removeFirst()
        if [UInt8(ascii: "("), UInt8(ascii: "{")].contains(next) { open += 1 }
        if [UInt8(ascii: ")"), UInt8(ascii: "}")].contains(next) { open -= 1 }
        if open > 0 { inner.append(next) }
      }
      let contents = String(decoding: inner, as: UTF8.self)
      let fill = { [self] in
        var left = contents.utf8[...]
        while !left.isEmpty { unsafe append(&left, message, writer, depth: depth + 1) }
      }
      if first == UInt8(ascii: "(") { writer.structure(of: contents, fill) } else { writer.entry(of: contents, fill) }
    default: preconditionFailure("there is no such type")
    }
  }

  /// Takes the first complete type.
  private static func first(_ types: inout Substring.UTF8View) -> String {
    var (taken, open): ([UInt8], Int) = ([], 0)
    repeat {
      let next = types.removeFirst()
      taken.append(next)
      if next == UInt8(ascii: "a") { continue }
      if [UInt8(ascii: "("), UInt8(ascii: "{")].contains(next) { open += 1 }
      if [UInt8(ascii: ")"), UInt8(ascii: "}")].contains(next) { open -= 1 }
      if open == 0 { break }
    } while !types.isEmpty
    return String(decoding: taken, as: UTF8.self)
  }
}
