internal import VaultBytes
internal import VaultHelper
internal import VaultWire

/// The conversation with `vault` about one file to write.
final class ExportConversation {
  /// A whole order: the facts of the file, its password, and the entries.
  struct Request {
    let order: ExportOrder
    let password: [UInt8]?
    var entries: [Entry] = []
  }

  private var frames: HelperConversation
  private var sent = 0
  /// The end; nil while the conversation goes on.
  private(set) var end: ImportConversation.End?

  init(_ frames: consuming HelperConversation) { self.frames = frames }

  /// Receives the order, and the entries up to the call for the file.
  func request() throws(ImportFailure) -> Request {
    let frame = try receive()
    guard case .write(let order)? = ExportCall(frame) else { throw stop(.noCall) }
    var request = Request(order: order, password: Self.value(frame))
    var (fields, bytes, missing) = (0, 0, 0)
    while true {
      let frame = try receive()
      switch ExportCall(frame) {
      case .entry(let facts)?:
        guard missing == 0, request.entries.count < ExportCall.most.entries else { throw stop(.noCall) }
        request.entries.append(Entry(facts))
        missing = facts.fieldCount
      case .field(let facts)?:
        guard missing > 0, let value = Self.value(frame), value.count == facts.size else { throw stop(.noCall) }
        (missing, fields, bytes) = (missing - 1, fields + 1, bytes + value.count)
        guard fields <= ExportCall.most.fields, bytes <= ExportCall.most.bytes else {
          throw ImportFailure(.tooLarge, "the items have more than \(ExportCall.most.bytes >> 20) MiB together")
        }
        request.entries[request.entries.count - 1].fields.append(Field(facts, value))
      case .finish?:
        guard missing == 0 else { throw stop(.noCall) }
        return request
      case .write?, nil: throw stop(.noCall)
      }
    }
  }

  /// The bytes that a frame holds; nil if there are none.
  private static func value(_ frame: borrowing Frame) -> [UInt8]? {
    switch ImportCall.value(frame) {
    case .some(let value): value.withBytes { $0.array }
    case .none: nil
    }
  }

  private func receive() throws(ImportFailure) -> Frame {
    guard end == nil, let frame = frames.next() else { throw stop(.noCall) }
    return frame
  }

  // MARK: Replies

  /// The place to which a writer sends the file.
  var output: ExportOutput { ExportOutput { part throws(ImportFailure) in try self.send(part) } }

  private func send(_ bytes: ArraySlice<UInt8>) throws(ImportFailure) {
    guard bytes.count <= ExportReply.longestFile - sent else {
      throw ImportFailure(.tooLarge, "the file would have more than \(ExportReply.longestFile >> 30) GiB")
    }
    sent += bytes.count
    var rest = bytes
    while !rest.isEmpty {
      let part = Array(rest.prefix(ExportReply.longestPart))
      rest = rest.dropFirst(part.count)
      // Bytes have no padding.
      try transmit(.part(SecretBuffer(copying: unsafe part.span.bytes)))
    }
  }

  /// Tells `vault` that it has the whole file.
  func finish() throws(ImportFailure) { try transmit(.done(count: sent)) }

  /// Tells `vault` of a failure, unless the conversation has ended.
  func fail(_ failure: ImportFailure) {
    do throws(ImportFailure) { try transmit(.failed(failure)) } catch {
      // `end` tells it.
    }
  }

  private func transmit(_ reply: consuming ExportReply) throws(ImportFailure) {
    let frame = reply.frame()
    guard end == nil, frames.send(frame) else { throw stop(.noReply) }
  }

  /// Ends the conversation. The error only leads out of the writer: nobody is told of it.
  private func stop(_ end: ImportConversation.End) -> ImportFailure {
    self.end = self.end ?? end
    return ImportFailure(.failed, "the conversation has ended")
  }
}

extension Entry {
  /// The entry that facts describe, without fields.
  fileprivate init(_ facts: ImportedEntry) {
    self.init(facts.kind, title: "")
    (id, folder, title, isTrashed) = (facts.id, facts.folder, facts.title, facts.isTrashed)
  }
}

extension Field {
  fileprivate init(_ facts: ImportedField, _ value: [UInt8]) {
    self.init(facts.name, facts.role, value, time: facts.time, mediaType: facts.mediaType, mark: facts.mark)
  }
}
