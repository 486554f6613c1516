/// A client's connection, as the room for connections knows it, whichever door it came through.
protocol Client: AnyObject {
  /// The share of the client's uid.
  var share: UserShare { get }
  /// The pid of the process that connected. Connections that were left open by an ended process count as those of a
  /// later process with its pid. Processes that cannot be seen from here have the pid 0 and count as one.
  var pid: Int32 { get }
  var standing: Room.Standing { get }
  /// The time at which the client last sent something, as ``Clients/heardNext()`` counts; its accept counts, too.
  var heard: Int { get }
  /// True when the client was refused, and is still connected so that it can read the refusal.
  var isRefused: Bool { get }

  /// Looks at what the client has sent, whether it was read or not, and returns true when its next call is urgent. From
  /// then on the ``standing`` says so.
  func looksUrgent() -> Bool
  /// Ends the connection to make room for another, at the limit of `most`.
  func giveWay(most: Int)
  /// Ends the connection once the bytes that are already written for the client are sent.
  func close()
}

extension Client {
  /// The facts that decide if this connection must go.
  var guest: Room.Guest<Int32> {
    Room.Guest(id: ObjectIdentifier(self), process: pid, standing: standing, heard: heard)
  }

  var isRefused: Bool { false }
  func looksUrgent() -> Bool { false }
}

/// A client that may send calls ahead of their answers.
protocol Sender: Client {
  /// The bytes of frames that are held for the client.
  var held: Int { get }

  /// Takes the client's next request if it has arrived and nothing stands in its way.
  ///
  /// - Parameter amongEvents: true while the loop goes through the ready sockets, which may include the client's.
  func lookIn(amongEvents: Bool)
  /// Ends the connection because its uid has sent too much.
  func refuseMore()
}
