internal import Glibc
internal import VaultModel
internal import VaultWire

/// What a ``Keeper`` tells: lines on standard error, or JSON on standard output. No value is ever in it, and nobody is waited for
/// to read it.
final class KeeperReport {
  private let output: String
  private let template: String
  private let json: Bool
  /// The problem that was told last, so that it is not told again at each attempt.
  private var problem: String?

  private var events = LineQueue(to: STDOUT_FILENO)

  init(output: String, template: String, json: Bool) {
    self.output = output
    self.template = template
    self.json = json
  }

  /// An attempt has failed; another one follows.
  func problem(_ failure: Failure) {
    guard problem != failure.message else { return }
    problem = failure.message
    Output.note(failure.event + "; \(Printable.text(output)) stays as it is until that is better", .none)
  }

  func solved() { problem = nil }

  func wrote(_ versions: [ItemName: Int]) {
    if json {
      emit { writer in
        writer.key("event")
        writer.literal("written")
        writer.key("output")
        writer.string(output)
        writer.versions(versions)
      }
    } else {
      Output.note("wrote \(Printable.text(output))", .none)
    }
  }

  /// Another program has written the output.
  ///
  /// - Parameters:
  ///   - adopts: whether the template takes what is not a value.
  ///   - obstacle: the reason why it did not.
  func rewritten(_ rewriting: Rewriting, _ actions: [Template.Action], adopts: Bool, obstacle: String?) {
    if json { return emit { write(rewriting, actions, adopts, obstacle, to: &$0) } }
    Output.note("another program has written \(Printable.text(output))", .none)
    Output.note(
      names: actions.indices.map { index in
        let what = Printable.text(actions[index].item.label)
        return "\(what) \(Self.text(rewriting.fates[index]))\(Self.text(rewriting.others[index]))"
      }, .none)
    let template = Printable.text(template)
    if !adopts {
      Output.note(
        "that stays until an item or the template changes; --adopt takes such changes into \(template)", .none)
    } else if let obstacle {
      Output.note("\(template) has taken none of it: \(obstacle)", .none)
    } else {
      Output.note("\(template) has taken what is not a value", .none)
    }
  }

  private static func text(_ fate: Rewriting.Fate) -> String {
    switch fate {
    case .stands(let line): "stands at line \(line)"
    case .moved(let line): "stands in another place, line \(line)"
    case .replaced(let line): "was changed to another value, line \(line)"
    case .gone: "is not in it any more"
    case .empty: "is empty"
    }
  }

  private static func text(_ others: [Int]) -> String {
    guard let first = others.first else { return "" }
    return others.count == 1
      ? ", and also at line \(first)" : ", and also at line \(first) and \(others.count - 1) more"
  }

  private func write(
    _ rewriting: Rewriting, _ actions: [Template.Action], _ adopts: Bool, _ obstacle: String?,
    to writer: inout JSONWriter
  ) {
    writer.key("event")
    writer.literal("rewritten")
    writer.key("output")
    writer.string(output)
    writer.key("values")
    writer.beginArray()
    for index in actions.indices {
      writer.beginObject()
      writer.key("name")
      writer.string(actions[index].item.name.text)
      if let field = actions[index].item.field {
        writer.key("field")
        writer.string(field)
      }
      writer.key("state")
      var lines = rewriting.others[index]
      switch rewriting.fates[index] {
      case .stands(let line):
        writer.literal("stands")
        lines.insert(line, at: 0)
      case .moved: writer.literal("moved")
      case .replaced(let line):
        writer.literal("replaced")
        lines = [line]
      case .gone: writer.literal("gone")
      case .empty: writer.literal("empty")
      }
      writer.key("lines")
      writer.beginArray()
      for line in lines { writer.integer(Int64(line)) }
      writer.endArray()
      writer.endObject()
    }
    writer.endArray()
    writer.key("adopted")
    writer.bool(adopts && obstacle == nil)
    if let obstacle {
      writer.key("obstacle")
      writer.string(obstacle)
    }
  }

  // MARK: Events

  /// Tells that there is room for events that wait.
  var polled: pollfd { events.polled }

  /// Writes those for which there is room.
  func send() { events.send() }

  private func emit(_ members: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    writer.beginObject()
    members(&writer)
    writer.endObject()
    events.add(Output.jsonLine(writer.take()))
  }
}
