internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The messages of a ``Keeper``: lines on standard error, or JSON on standard output. No message holds a value, and the
/// keeper waits for no reader.
final class KeeperReport {
  private let output: String
  private let template: String
  private let ways: Keeper.Ways
  private let json: Bool
  /// The problem that was reported last, so that the next attempts do not report it again.
  private var problem: String?

  private var events = LineQueue(to: STDOUT_FILENO)

  init(output: String, template: String, _ ways: Keeper.Ways, json: Bool) {
    self.output = output
    self.template = template
    self.ways = ways
    self.json = json
  }

  /// Reports a failed attempt; another one follows.
  func problem(_ failure: Failure) {
    guard problem != failure.message else { return }
    problem = failure.message
    let isThere = unsafe access(output, F_OK) == 0
    let state = isThere ? "stays as it is" : "is not written"
    // Other failures pass by themselves, or are reported where a person can act on them.
    let advice = failure.exit == .io ? failure.advice : nil
    Output.note(
      Sentence.joined(failure.event, advice) + "; \(Printable.text(output)) \(state) for now", .none)
  }

  /// Notes that an attempt succeeded after a problem.
  ///
  /// - Parameter isUnchanged: true if the output is as it should be without a write, which no other message reports.
  func solved(isUnchanged: Bool) {
    if problem != nil, isUnchanged { Output.note("\(Printable.text(output)) is as it should be again", .none) }
    problem = nil
  }

  func wrote(_ versions: [ItemName: Int]) {
    if json {
      emit("written") { object in object.add(versions: versions) }
    } else {
      Output.note("wrote \(Printable.text(output))", .none)
    }
  }

  /// Reports that the file at the output's path was displaced.
  ///
  /// - Parameters:
  ///   - aside: the path where the displaced file lies now.
  ///   - isSudden: true if the file arrived at the moment of the write.
  func displaced(to aside: String, isSudden: Bool) {
    if json { return emitDisplaced(to: aside) }
    let what = isSudden ? "another program wrote it at the same moment; its text" : "the file that was there before"
    Output.note("\(Printable.text(output)): \(what) lies in \(Printable.text(aside))", .none)
  }

  /// The kinds of files that were left under temporary names.
  enum Leftover: String {
    /// Another program's text, left because a write was undone or interrupted.
    case foreign = "the text of another program"
    case template = "the remainder of a write of the template"
    /// The keeper's own text, with values in it, which could not be removed.
    case own = "the remainder of an earlier write"
  }

  func leftover(_ path: String, _ kind: Leftover) {
    if json { return emitDisplaced(to: path) }
    let advice =
      switch kind {
      case .foreign, .template: "examine it, and remove it"
      case .own: "it is removed as soon as possible"
      }
    Output.note("\(kind.rawValue) lies in \(Printable.text(path)); \(advice)", .none)
  }

  private func emitDisplaced(to path: String) {
    emit("displaced") { object in object.add("path", path) }
  }

  /// Reports that another program has changed the output's mode.
  func modeChanged(_ mode: mode_t, from own: mode_t, isRestored: Bool) {
    if json {
      return emit("mode") { object in
        object.add("mode", FileMode.text(mode))
        object.add("restored", isRestored)
      }
    }
    let then = isRestored ? "it has \(FileMode.text(own)) again" : "that mode stays until it is written again"
    Output.note(
      "another program has given \(Printable.text(output)) the mode \(FileMode.text(mode)); \(then)", .none)
  }

  /// Reports that the output is held and not overwritten.
  ///
  /// - Parameter aside: the path of a file that was displaced earlier; nil if there is none.
  func held(aside: String?) {
    if json { return emit("held") }
    let displaced = "\(Printable.text(output)).displaced"
    let advice =
      if ways.overwrites, let aside {
        "examine \(Printable.text(aside)) and remove it; the present file is then moved there"
      } else if ways.adopts {
        "give --overwrite to move that text to \(displaced) and write the values"
      } else {
        "give --adopt to adopt that text into \(Printable.text(template)), "
          + "or --overwrite to move it to \(displaced) and write the values"
      }
    Output.note("\(Printable.text(output)) is held, because another program has written it; \(advice)", .none)
  }

  /// Reports that another program has written the output.
  ///
  /// - Parameters:
  ///   - obstacle: the reason why the template did not adopt the text outside the values; nil if there is none.
  ///   - aside: the path of the text, if that is not the output's path.
  ///   - unread: the reason why nothing is known of the text; nil if it was read.
  func rewritten(
    _ rewriting: Rewriting, _ actions: [Template.Action], obstacle: String?, at aside: String? = nil,
    unread: String? = nil
  ) {
    let adopts = ways.adopts
    if json { return emit(rewriting, unread == nil ? actions : [], adopts, obstacle ?? unread) }
    Output.note("another program has written \(Printable.text(aside ?? output))", .none)
    if let unread { Output.note("nothing is known of its values: \(unread)", .none) }
    let actions = unread == nil ? actions : []
    Output.note(
      names: actions.indices.map { index in
        let what = Printable.text(actions[index].item.label)
        return "\(what) \(Self.text(rewriting.fates[index]))\(Self.text(rewriting.others[index]))"
      }, .none)
    let template = Printable.text(template)
    if !adopts {
      let stays = ways.overwrites ? "it is overwritten once an item or the template has changed" : "the text stays"
      Output.note("\(stays); --adopt adopts such changes into \(template)", .none)
    } else if let obstacle {
      Output.note("\(template) has adopted none of it: \(obstacle)", .none)
    } else {
      Output.note("\(template) has adopted the text outside the values", .none)
    }
  }

  private static func text(_ fate: Rewriting.Fate) -> String {
    switch fate {
    case .stands(let line): "stands at line \(line)"
    case .moved(let line): "stands in another place, line \(line)"
    case .replaced(let line): "was changed to another value, line \(line)"
    case .gone: "is no longer in it"
    case .empty: "is empty"
    }
  }

  private static func text(_ others: [Int]) -> String {
    guard let first = others.first else { return "" }
    return others.count == 1
      ? ", and also at line \(first)" : ", and also at line \(first) and \(others.count - 1) more"
  }

  private func emit(_ rewriting: Rewriting, _ actions: [Template.Action], _ adopts: Bool, _ obstacle: String?) {
    emit("rewritten") { object in
      object.add("values", actions.indices) { value, index in
        value.add("name", actions[index].item.name.text)
        value.add("field", actions[index].item.field)
        let others = rewriting.others[index]
        let (state, lines) =
          switch rewriting.fates[index] {
          case .stands(let line): ("stands", [line] + others)
          case .moved: ("moved", others)
          case .replaced(let line): ("replaced", [line])
          case .gone: ("gone", others)
          case .empty: ("empty", others)
          }
        value.add("state", state)
        value.add("lines", lines)
      }
      object.add("adopted", adopts && obstacle == nil)
      object.add("obstacle", obstacle)
    }
  }

  // MARK: Events

  /// The descriptor to poll for room for waiting events.
  var polled: pollfd { events.polled }

  /// Writes the events for which there is room.
  func send() { events.send() }

  private func emit(_ event: String, _ members: (inout JSONBuilder) -> Void = { _ in }) {
    var object = JSONBuilder()
    object.add("event", event)
    object.add("output", output)
    members(&object)
    events.add(Output.jsonLine(object.take()))
  }
}
