import threading

session = None  # what libkineto has: one for the whole process
enabled = {}  # thread: session


class Session:
    cancelled = False


def _prepare_profiler():
    global session
    if session is not None:
        session.cancelled = True
    session = Session()
    return session


def _enable_profiler():
    enabled[threading.get_ident()] = session


def _disable_profiler():
    global session
    mine = enabled.pop(threading.get_ident(), None)
    if mine is None:
        raise RuntimeError("no profile is active in this thread")
    if mine is session:
        session = None
    return mine


def _profiler_enabled():
    return threading.get_ident() in enabled


from . import profiler  # noqa: E402,F401
