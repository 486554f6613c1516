import NIOCore
import VaultCore

@testable import VaultDaemon
@testable import VaultService

/// Objects of an interface that has a method for each thing that a method can do.
final class Example {
  static let root = "/vault/test"
  static let hidden = BusError(name: "vault.test.Error.Hidden", text: "nobody is told")

  var note: (String) -> Void = { _ in }
  weak var objects: BusObjects?
  var loop: (any EventLoop)?
  private var label = "old"
  private var later: [BusRequest] = []
  private var kept: SecureBytes?
  /// Runs in each call of `Note`.
  var onNote: () -> Void = {}

  /// The objects are the root, and `items/N` for each number N.
  func find(_ path: String) throws(BusError) -> [BusInterface]? {
    let parts = path.dropFirst(Self.root.count).split(separator: "/")
    switch (parts.first, parts.count) {
    case (nil, _): return [main, other]
    case ("items", 2): return Int(parts[1]) == nil ? nil : [other]
    case ("hidden", _): throw Self.hidden
    default: return nil
    }
  }

  private(set) lazy var main: BusInterface = BusInterface(
    ServingStand.name,
    methods: [
      BusInterface.Method(
        "Echo", takes: ["texts": "a{ss}", "paths": "ao", "secret": "(oayays)", "long": "t", "flag": "b", "short": "u"],
        gives: ["texts": "a{ss}", "paths": "ao", "secret": "(oayays)", "long": "t", "flag": "b", "short": "u"],
        answer: Self.echo),
      BusInterface.Method("Note", takes: ["text": "s"]) { [unowned self] request, _ throws(BusError) in
        note("note: \(try request.message.string())")
        onNote()
        request.reply()
      },
      BusInterface.Method("Who", gives: ["uid": "u", "pid": "u", "started": "t"]) { request, peer in
        request.reply {
          $0.unsigned(peer.caller.uid)
          $0.unsigned(UInt32(peer.caller.pid))
          $0.long(peer.caller.started ?? 0)
        }
      },
      BusInterface.Method("Fail") { _, _ throws(BusError) in throw BusError(name: "vault.test.Error.No", text: "no") },
      BusInterface.Method("Drop") { _, _ in },
      BusInterface.Method("Wrong", gives: ["path": "o"]) { request, _ in request.reply { $0.string("no path") } },
      BusInterface.Method("Bad", gives: ["path": "o"]) { request, _ in request.reply { $0.path("no path") } },
      BusInterface.Method("Ended", gives: ["text": "s"]) { request, _ in request.reply { $0.string("cut\0off") } },
      BusInterface.Method("Later", gives: ["text": "s"]) { [unowned self] request, _ in later.append(request) },
      BusInterface.Method("Stay", takes: ["text": "s"], gives: ["text": "s"]) { [unowned self] request, _ in
        note("stay")
        later.append(request)
      },
      BusInterface.Method("Answer") { [unowned self] request, _ in
        for asked in later {
          asked.reply { $0.string("at last") }
          asked.reply { $0.string("again") }
          asked.fail(.failed)
        }
        later = []
        request.reply()
      },
      BusInterface.Method("Keep") { [unowned self] request, peer in
        peer.onEnd { self.note("end") }
        request.reply()
      },
      BusInterface.Method("Change") { [unowned self] request, peer throws(BusError) in
        try objects?.changed(["Label", "Pid"], of: main, at: Self.root, for: peer)
        request.reply()
      },
      BusInterface.Method("Turn", takes: ["secret": "(oayays)"], gives: ["secret": "(oayays)"], answer: Self.turn),
      BusInterface.Method("Any", takes: ["value": "v"]) { request, _ in request.reply() },
      BusInterface.Method("Hold", takes: ["secret": "ay"]) { [unowned self] request, _ throws(BusError) in
        kept = try request.message.bytes()
        request.reply()
      },
    ],
    properties: [
      BusInterface.Property("Label", "s") { [unowned self] _, _, writer in
        writer.string(label)
      } set: { [unowned self] request, _ throws(BusError) in
        label = try request.message.string()
        request.reply()
      },
      BusInterface.Property("Pid", "u") { _, peer, writer in writer.unsigned(UInt32(peer.caller.pid)) },
    ], signals: [BusInterface.Signal("Said", carries: ["text": "s"])])

  private let other = BusInterface(
    "vault.test.Other",
    properties: [BusInterface.Property("Path", "o") { path, _, writer in writer.path(path) }])

  private static func echo(_ request: BusRequest, _: BusPeer) throws(BusError) {
    let message = request.message
    let (texts, paths) = (try message.pairs(most: 100), try message.objectPaths())
    let secret = try readSecret(message)
    let (count, flag, small) = (try message.long(), try message.flag(), try message.unsigned())
    request.reply { writer in
      writer.pairs(texts)
      writer.paths(paths)
      secret.value.withBytes { write(secret, $0, to: writer) }
      writer.long(count)
      writer.flag(flag)
      writer.unsigned(small)
    }
  }

  /// Answers with the secret in which every bit is turned.
  private static func turn(_ request: BusRequest, _: BusPeer) throws(BusError) {
    var secret = try readSecret(request.message)
    secret.value.withMutableBytes { bytes in
      for index in 0..<bytes.byteCount {
        // A byte has no padding.
        let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
        bytes.storeBytes(of: ~byte, toByteOffset: index, as: UInt8.self)
      }
    }
    request.reply { writer in secret.value.withBytes { write(secret, $0, to: writer) } }
  }

  private struct Secret: ~Copyable {
    var session: String
    var parameters: [UInt8]
    var value: SecureBytes
    var type: String
  }

  private static func readSecret(_ message: BusMessage) throws(BusError) -> Secret {
    try message.structure(of: "oayays") { () throws(BusError) in
      Secret(
        session: try message.objectPath(),
        parameters: try message.withBytes { bytes throws(BusError) in
          unsafe bytes.withUnsafeBytes { unsafe Array($0) }
        }, value: try message.bytes(), type: try message.string())
    }
  }

  private static func write(_ secret: borrowing Secret, _ value: RawSpan, to writer: BusWriter) {
    let (session, parameters, type) = (secret.session, secret.parameters, secret.type)
    writer.structure(of: "oayays") {
      writer.path(session)
      writer.bytes(unsafe parameters.span.bytes)
      writer.bytes(value)
      writer.string(type)
    }
  }
}
