"""desktop.py SYSTEM SESSION: plays logind and a screen locker on two buses, and times a sleep.

Each line on standard input is a sleep: the line that comes back is the milliseconds from the signal PrepareForSleep to
the end of the last inhibitor. Then it resumes, and says so by a second line once the next inhibitor was taken."""

import os, select, sys, time
import dbus, dbus.bus, dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

MANAGER = "org.freedesktop.login1.Manager"
SAVER = "org.gnome.ScreenSaver"


class Logind(dbus.service.Object):
    inhibitor = None

    @dbus.service.method(MANAGER, in_signature="ssss", out_signature="h")
    def Inhibit(self, what, who, why, mode):
        self.inhibitor, ours = os.pipe()
        # Closed once the reply has gone out, so that only the other side holds it.
        GLib.timeout_add(50, self.taken, ours)
        return dbus.types.UnixFd(ours)

    def taken(self, ours):
        os.close(ours)
        print("ready", flush=True)
        return False

    @dbus.service.method(MANAGER, out_signature="a(susso)")
    def ListSessions(self):
        return []

    @dbus.service.signal(MANAGER, signature="b")
    def PrepareForSleep(self, start):
        pass

    def sleep(self, *_):
        if not sys.stdin.readline():
            loop.quit()
            return False
        poll = select.poll()
        poll.register(self.inhibitor, select.POLLHUP)
        began = time.perf_counter()
        self.PrepareForSleep(True)
        self.connection.flush()
        if not poll.poll(10_000):
            sys.exit("the inhibitor was not let go of")
        print((time.perf_counter() - began) * 1000, flush=True)
        os.close(self.inhibitor)
        self.PrepareForSleep(False)
        return True


class Locker(dbus.service.Object):
    @dbus.service.method(SAVER, out_signature="b")
    def GetActive(self):
        return False


DBusGMainLoop(set_as_default=True)
loop = GLib.MainLoop()
system, session = (dbus.bus.BusConnection(address) for address in sys.argv[1:3])
logind = Logind(system, "/org/freedesktop/login1")
locker = Locker(session, "/org/gnome/ScreenSaver")
names = dbus.service.BusName("org.freedesktop.login1", system), dbus.service.BusName(SAVER, session)
GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, logind.sleep)
loop.run()
