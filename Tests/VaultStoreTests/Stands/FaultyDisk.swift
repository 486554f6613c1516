import CFaultyDisk
import CSQLite
import Foundation
import Testing

/// A directory whose files are on a disk that records all operations, and that fails on request.
@safe final class FaultyDisk {
  private let disk: OpaquePointer
  private let directory: String
  /// The files as they were when the watch began.
  private let base: [String: Data]

  /// - Parameter folder: a directory within the fixture's; nil for the fixture's own.
  init(_ fixture: Fixture, in folder: String? = nil) throws {
    directory = folder.map { fixture.path($0) } ?? fixture.directory
    base = try fixture.files(in: folder).filter { $0.key != "vault.lock" }
    unsafe disk = faulty_disk_watch(directory)
  }

  /// Ends the watch; the store must be closed before.
  deinit { unsafe faulty_disk_forget(disk) }

  // MARK: Operations

  enum Kind: Int32 { case write, truncate, sync, remove }

  struct Event {
    var kind: Kind
    var file: String
    var offset: Int
    var data: Data
  }

  var count: Int { Int(unsafe faulty_disk_count(disk)) }

  /// Returns all operations so far, in order.
  func events() -> [Event] {
    (0..<count).map { index in
      var event = unsafe faulty_disk_event_at(disk, Int64(index))
      let file = unsafe withUnsafeBytes(of: &event.file) {
        unsafe String(cString: $0.bindMemory(to: CChar.self).baseAddress!)
      }
      let data = unsafe event.data.map { unsafe Data(bytes: $0, count: Int(event.size)) } ?? Data()
      return unsafe Event(
        kind: Kind(rawValue: event.kind)!, file: file, offset: Int(event.offset), data: data)
    }
  }

  /// The part of the operations on a file since its last sync that survives.
  enum Luck: CaseIterable {
    case nothing, everything, firstHalf, everySecond, torn, oddPages, evenPages

    func keep(_ events: [Event]) -> [Event] {
      switch self {
      case .nothing: return []
      case .everything: return events
      case .firstHalf: return Array(events.prefix(events.count / 2))
      case .everySecond: return events.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
      case .torn:
        guard var last = events.last else { return [] }
        // A disk writes each sector of 512 bytes whole.
        last.data = last.data.prefix(last.data.count / 2 / 512 * 512)
        return events.dropLast() + [last]
      case .oddPages: return events.flatMap { Self.pages(of: $0) { $0 % 2 == 1 } }
      case .evenPages: return events.flatMap { Self.pages(of: $0) { $0 % 2 == 0 } }
      }
    }

    /// Splits a write into pages, because a system may write the pages in any order.
    private static func pages(of event: Event, _ isKept: (Int) -> Bool) -> [Event] {
      guard event.kind == .write else { return [event] }
      let end = event.offset + event.data.count
      return (event.offset / 4096...max(event.offset, end - 1) / 4096).filter(isKept).map { page in
        let place = max(event.offset, page * 4096)..<min(end, (page + 1) * 4096)
        var part = event
        part.offset = place.lowerBound
        part.data = event.data.dropFirst(place.lowerBound - event.offset).prefix(place.count)
        return part
      }
    }
  }

  /// Returns the files after a power cut behind the first `count` of `events`.
  func files(_ events: [Event], cutAfter count: Int, _ luck: Luck) -> [String: Data] {
    var files = base
    var pending: [String: [Event]] = [:]
    for event in events.prefix(count) {
      switch event.kind {
      case .sync: for done in pending.removeValue(forKey: event.file) ?? [] { Self.apply(done, &files) }
      case .remove:
        pending[event.file] = nil
        files[event.file] = nil
      case .write, .truncate: pending[event.file, default: []].append(event)
      }
    }
    for unsynced in pending.values { for event in luck.keep(unsynced) { Self.apply(event, &files) } }
    return files
  }

  private static func apply(_ event: Event, _ files: inout [String: Data]) {
    var data = files.removeValue(forKey: event.file) ?? Data()
    let end = event.offset + (event.kind == .write ? event.data.count : 0)
    if data.count < end { data.append(Data(count: end - data.count)) }
    if event.kind == .truncate {
      data = data.prefix(end)
    } else {
      data.replaceSubrange(event.offset..<end, with: event.data)
    }
    files[event.file] = data
  }

  // MARK: Failures

  struct Failure: CaseIterable, CustomTestStringConvertible {
    var code: Int32
    var number: Int32
    var text: String
    var testDescription: String { text }

    static let allCases = [
      Failure(code: SQLITE_FULL, number: ENOSPC, text: "disk full"),
      Failure(code: SQLITE_READONLY, number: EROFS, text: "readonly"),
      Failure(code: SQLITE_IOERR | (3 << 8), number: EIO, text: "Input/output error"),
      Failure(code: SQLITE_IOERR | (4 << 8), number: EDQUOT, text: "Disk quota exceeded"),
    ]
  }

  /// Makes the operation after the next `count` fail, and all later operations unless `once`.
  func fail(after count: Int, _ failure: Failure, once: Bool = false) {
    unsafe faulty_disk_fail(disk, Int64(count), failure.code, failure.number, once ? 1 : 0)
  }

  /// Makes a page of the database, counted from 0, unreadable; nil makes all pages readable again.
  func spoil(page: Int?) {
    let from = Int64(page ?? 0) * 4096
    unsafe faulty_disk_spoil(disk, from, page == nil ? from : from + 4096)
  }

  func recover() { unsafe faulty_disk_fail(disk, -1, 0, 0, 0) }

  /// True if an operation has failed since ``fail(after:_:once:)``.
  var hasFailed: Bool { unsafe faulty_disk_failures(disk) > 0 }
}
