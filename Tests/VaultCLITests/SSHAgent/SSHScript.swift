/// The beginning of a Python program that speaks the ssh-agent protocol (RFC 9987) in ways that no program of OpenSSH
/// does, and the daemon's own protocol beside it; see ``VarlinkScript``.
///
/// `join()` makes a connection to the agent. `request(client, body)` sends a request and returns the body of the
/// answer, or None if the connection ends. `Key(seed)` is an Ed25519 key by the code of RFC 8032 section 6, which is
/// slow.
enum SSHScript {
  static let prelude =
    AttendDoorTests.prelude + """
      import base64, hashlib, select, struct, threading, time
      agent_path = sys.argv[3]
      def string(data):
          if type(data) is str: data = data.encode()
          return struct.pack(">I", len(data)) + data
      def join():
          client = socket.socket(socket.AF_UNIX)
          # Before there is a limit: where many wait to be accepted, this one does, too.
          client.connect(agent_path)
          client.settimeout(60)
          return client
      def take(client, count):
          data = b""
          while len(data) < count:
              try: part = client.recv(count - len(data))
              except ConnectionResetError: return None
              if not part: return None
              data += part
          return data
      def receive(client):
          head = take(client, 4)
          return head and take(client, struct.unpack(">I", head)[0])
      def receive_now(client):
          # What has come, which is the end where the other side has closed.
          client.setblocking(False)
          try: return client.recv(1) or None
          except BlockingIOError: return b""
          except ConnectionResetError: return None
      def request(client, body):
          try: client.sendall(string(body))
          except (BrokenPipeError, ConnectionResetError): return None
          return receive(client)
      def code(client, body):
          found = request(client, body)
          return found and found[0]
      def blobs(client):
          found = request(client, b"\\x0b")
          assert found[0] == 12, found
          place, keys = 5, []
          for _ in range(struct.unpack(">I", found[1:5])[0]):
              parts = []
              for _ in range(2):
                  size = struct.unpack(">I", found[place:place + 4])[0]
                  parts.append(found[place + 4:place + 4 + size])
                  place += 4 + size
              keys.append((parts[0], parts[1].decode()))
          return keys
      def sign_body(blob, data, flags=0): return b"\\x0d" + string(blob) + string(data) + struct.pack(">I", flags)
      def login(blob, session, user="ana", algorithm="ssh-ed25519", host=None):
          method = "publickey-hostbound-v00@openssh.com" if host else "publickey"
          data = string(session) + b"\\x32" + string(user) + string("ssh-connection") + string(method) + b"\\x01"
          return data + string(algorithm) + string(blob) + (string(host) if host else b"")
      def bind(key, session, forwarding, signature=None):
          if signature is None: signature = key.signature(session)
          body = b"\\x1b" + string("session-bind@openssh.com") + string(key.blob) + string(session) + string(signature)
          return body + (b"\\x01" if forwarding else b"\\x00")
      prime = 2 ** 255 - 19
      order = 2 ** 252 + 27742317777372353535851937790883648493
      curve = -121665 * pow(121666, prime - 2, prime) % prime
      base_x = 15112221349535400772501151409588531511454012693041857206046113283949847762202
      base_y = 46316835694926478169428394003475163141307993866256225615783033603165251855960
      base = (base_x, base_y, 1, base_x * base_y % prime)
      def plus(p, q):
          a, b = (p[1] - p[0]) * (q[1] - q[0]) % prime, (p[1] + p[0]) * (q[1] + q[0]) % prime
          c, d = 2 * p[3] * q[3] * curve % prime, 2 * p[2] * q[2] % prime
          e, f, g, h = b - a, d - c, d + c, b + a
          return (e * f % prime, g * h % prime, f * g % prime, e * h % prime)
      def times(number, point):
          total = (0, 1, 1, 0)
          while number:
              if number & 1: total = plus(total, point)
              point = plus(point, point)
              number >>= 1
          return total
      def pack(point):
          inverse = pow(point[2], prime - 2, prime)
          x, y = point[0] * inverse % prime, point[1] * inverse % prime
          return (y | (x & 1) << 255).to_bytes(32, "little")
      class Key:
          def __init__(self, seed):
              self.seed = seed
              digest = hashlib.sha512(seed).digest()
              self.scalar = (int.from_bytes(digest[:32], "little") & (1 << 254) - 8) | 1 << 254
              self.prefix = digest[32:]
              self.public = pack(times(self.scalar, base))
              self.blob = string("ssh-ed25519") + string(self.public)
          def signature(self, data):
              r = int.from_bytes(hashlib.sha512(self.prefix + data).digest(), "little") % order
              point = pack(times(r, base))
              k = int.from_bytes(hashlib.sha512(point + self.public + data).digest(), "little") % order
              s = ((r + k * self.scalar) % order).to_bytes(32, "little")
              return string("ssh-ed25519") + string(point + s)
          def body(self, comment="key", constraints=b""):
              kind = b"\\x19" if constraints else b"\\x11"
              private = string(self.seed + self.public)
              return kind + string("ssh-ed25519") + string(self.public) + private + string(comment) + constraints

      """
}
