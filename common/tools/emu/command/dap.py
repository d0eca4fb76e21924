"""dap.py -- `emu dap`: the requests of an editor, in the Debug Adapter Protocol, become lines for
`emu debug --json`, and its stops become events. The lanes of the warp in which the run has stopped
are the protocol's threads, from 1 on. The only argument is the path of emu."""
import codecs
import contextlib
import functools
import io
import json
import os
import re
import select
import signal
import subprocess
import sys

LANES = 32
FRAMES = 100  # more than the debugger tells of; a frame's id is lane * FRAMES + depth
PART = 1 << 16  # bytes of the program's output that are read at once
HOST = {"reason": "entry", "text": "", "stack": []}  # the stop before the first launch
MISUSED = 2  # exit code

# Requests that make the debugger go on.
GOES = {"configurationDone": "run", "continue": "continue", "next": "next", "stepIn": "step",
        "stepOut": "finish", "stepBack": "reverse-next", "reverseContinue": "reverse-continue"}
# Those that need no program, and those that are answered at once, also while a kernel runs.
ALONE = ("initialize", "launch", "setExceptionBreakpoints")
AT_ONCE = ("threads", "pause", "terminate", "disconnect")
FEATURES = ("ConfigurationDoneRequest", "ConditionalBreakpoints", "FunctionBreakpoints",
            "DataBreakpoints", "EvaluateForHovers", "StepBack", "SetVariable", "TerminateRequest")


class Failure(Exception):
    """Why a request cannot be answered, in a sentence."""


class Members(dict):
    """An object of JSON from the editor."""

    def __missing__(self, key):
        raise Failure('"%s" is missing' % key)


def place_of(stop):
    """The numbers of a stop's block in the grid and thread in the block, x fastest."""
    pairs = (("block", "gridDim"), ("thread", "blockDim")) if "kernel" in stop else ()
    return tuple(x + width * (y + height * z) for (x, y, z), (width, height, _) in (
        (stop[at], stop[size]) for at, size in pairs)) or (0, 0)


class Editor:
    """Reads and writes messages."""

    def __init__(self):
        # Its buffer is one byte: select must see what has not been read yet.
        self.input = io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False), 1)
        self.last = 0

    def read(self):
        """The next request: its command, number and arguments. Exits when the editor has gone."""
        head = self.input.readline()
        if not head:
            sys.exit()
        try:
            head = re.fullmatch(rb"Content-Length: *(\d+)\r\n\r\n", head + self.input.readline())
            request = json.loads(self.input.read(int(head[1])), object_hook=Members)
            return request["command"], request["seq"], request.get("arguments") or Members()
        except (ValueError, TypeError, Failure):
            print("emu: emu dap: the input is no request of the Debug Adapter Protocol; an editor "
                  "starts this command, and people start emu debug", file=sys.stderr)
            sys.exit(MISUSED)

    def send(self, kind, **members):
        self.last += 1
        text = json.dumps({"seq": self.last, "type": kind, **members}).encode()
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        sys.stdout.buffer.flush()

    def event(self, name, **body):
        self.send("event", event=name, body=body)


class Adapter:
    """Drives an `emu debug` in a process of its own. A request such as setVariable is answered by
    on_set_variable, which returns the body of the response."""

    def __init__(self, editor):
        self.editor = editor
        self.sources = {editor.input: self.read_request}  # what is waited for, and what reads it
        self.waiting = []  # requests that have to wait for an answer of the debugger
        self.process = self.answers = None  # `emu debug`, and the file of its objects
        self.has_begun = False  # it has answered a line
        self.is_busy = False  # it has not answered the last one yet
        self.goes = False  # and an event is to tell when it has
        self.answer = ""
        self.stop = self.focus = HOST  # where the run stands, and the thread in focus there
        self.points = {}  # by owner, a source file or a kind, and line: what the editor is told

    def wait(self):
        """Reads once, when something is there."""
        self.sources[select.select(list(self.sources), [], [])[0][0]]()

    def tell(self, line):
        self.answer, self.is_busy = "", bool(self.process)
        # It may have ended, or is ending: then that is what `answers` says next.
        with contextlib.suppress(AttributeError, OSError, ValueError):
            # An empty line would repeat the last one.
            self.process.stdin.write((line.replace("\n", " ") or " ").encode() + b"\n")

    def ask(self, line):
        """The answer to a line, without its last newline."""
        self.tell(line)
        while self.is_busy:
            self.wait()
        return self.answer

    def read_answer(self):
        reply = json.loads(self.answers.readline() or '{"ended": true}')
        if reply["ended"]:
            self.end()
            return
        answer, stop, goes = reply["answer"], reply["stop"], self.goes
        self.answer, self.has_begun = answer.removesuffix("\n"), True
        self.is_busy = self.goes = False
        if stop:
            self.stop = self.focus = stop
        if goes:
            self.pass_output()
            # Why the run has not moved, what a checker has found, or what came before the stop.
            if not stop or stop["reason"] == "exception" or not answer.startswith(stop["text"]):
                self.editor.event("output", category="console", output=answer)
            self.send_stop()

    def send_stop(self):
        reason, text = self.stop["reason"], self.stop["text"]
        hit = {"hitBreakpointIds": [self.stop["breakpoint"]]} if "breakpoint" in self.stop else {}
        self.editor.event("stopped", reason=reason, description=text or reason, **hit,
                          threadId=place_of(self.stop)[1] % LANES + 1, allThreadsStopped=True)

    def read_output(self, category, file, decoder):
        """Returns whether more may be there."""
        try:
            data = os.read(file.fileno(), PART)
        except BlockingIOError:
            return False
        if data:
            self.editor.event("output", category=category, output=decoder.decode(data))
        else:
            del self.sources[file]
        return bool(data)

    def pass_output(self):
        for file in (self.process.stdout, self.process.stderr):
            while file in self.sources and self.sources[file]():
                pass

    def end(self):
        """The process has ended."""
        code = self.process.wait()
        self.pass_output()
        self.sources = {self.editor.input: self.read_request}
        self.process, self.is_busy, self.goes = None, False, False
        if self.has_begun:
            self.editor.event("exited", exitCode=code)
            self.editor.event("terminated")

    def look_at(self, place):
        """Puts a block and thread into focus. That is no stop."""
        if place != place_of(self.focus):
            stop = self.stop
            self.ask("focus block %d thread %d" % place)
            self.stop = stop

    def value_of(self, expression):
        answer, begin = self.ask("print " + expression), expression.strip() + " = "
        if ".." in expression and " = " in answer:
            return answer  # a line for each element
        if not answer.startswith(begin):
            raise Failure(answer)
        return answer[len(begin):]

    def serve(self):
        while True:
            while self.waiting and not self.is_busy:
                self.respond(*self.waiting.pop(0))
            self.wait()

    def read_request(self):
        request = self.editor.read()
        if request[0] in AT_ONCE:
            self.respond(*request)
        else:
            self.waiting.append(request)

    def respond(self, command, seq, arguments):
        before, result = self.stop, {"success": True, "body": {}}
        name = "on_" + re.sub("([A-Z])", r"_\1", command).lower()
        try:
            if command not in GOES and not hasattr(self, name):
                raise Failure("emu dap has no request " + command)
            if command not in ALONE and command not in AT_ONCE:
                self.look(arguments)
            if command in GOES:
                self.tell(GOES[command])
                self.goes = True
            else:
                result["body"] = getattr(self, name)(arguments) or {}
        except Failure as failure:
            result = {"success": False, "message": str(failure)}
        self.editor.send("response", request_seq=seq, command=command, **result)
        if command == "disconnect":
            sys.exit()
        if command == "evaluate" and self.process and self.stop is not before:
            self.send_stop()

    def look(self, arguments):
        """Puts the lane that a request is about into focus, or the one that has stopped."""
        if not self.process:
            raise Failure("no program is being debugged")
        lane = (arguments.get("threadId") or (arguments.get("frameId") or 0) // FRAMES or
                arguments.get("variablesReference", 0) // 2)
        block, thread = place_of(self.stop)
        self.look_at((block, thread - thread % LANES + lane - 1 if lane else thread))

    def on_initialize(self, _):
        return {"supports" + feature: True for feature in FEATURES}

    def on_launch(self, arguments):
        if self.process or self.has_begun:
            raise Failure("a program has been launched already")
        program, (end, own) = arguments["program"], os.pipe()
        tool = ["--tool", arguments["tool"]] if arguments.get("tool") else []
        words = [sys.argv[1], "debug", "--json", "--log-file", "/dev/fd/%d" % own, *tool, "--",
                 program, *map(str, arguments.get("args") or ())]
        try:
            self.process = subprocess.Popen(
                words, cwd=arguments.get("cwd"), pass_fds=[own], bufsize=0, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            raise Failure("cannot start %s: %s" % (program, error)) from error
        finally:
            os.close(own)
        self.answers = open(end, "rb")
        self.sources[self.answers] = self.read_answer
        for category, file in ("stdout", self.process.stdout), ("stderr", self.process.stderr):
            os.set_blocking(file.fileno(), False)
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            self.sources[file] = functools.partial(self.read_output, category, file, decoder)
        self.ask("")
        if not self.has_begun:
            raise Failure("%s was not started, or has ended before it used CUDA: its output says "
                          "more" % program)
        self.editor.event("initialized")

    def on_pause(self, _):
        if not self.has_begun or not self.is_busy:
            raise Failure("nothing runs that could be paused")
        self.process.send_signal(signal.SIGINT)

    def on_terminate(self, _=None):
        """Ends the process where it runs, and where it waits for a line."""
        if self.process:
            self.process.terminate()
            self.process.stdin.close()
    on_disconnect = on_terminate

    def on_set_exception_breakpoints(self, _):
        """VS Code sends it: findings always stop."""

    def set_points(self, owner, arguments, line_of):
        """The points of an owner become those of the request. Those that are there already stay:
        the name of a watchpoint may mean another word by now."""
        old, new, told = self.points.get(owner, {}), {}, []
        for point in arguments.get("breakpoints") or ():
            condition = point.get("condition")
            line = line_of(point) + (" if " + condition if condition else "")
            told.append(new.get(line) or old.get(line) or self.set_point(line))
            if "id" in told[-1]:
                new[line] = told[-1]
        for line in old.keys() - new:
            self.ask("delete %d" % old[line]["id"])
        self.points[owner] = new
        return {"breakpoints": told}

    def set_point(self, line):
        """A watchpoint has its block and thread from dataBreakpointInfo: there its name has its
        meaning."""
        place = re.match(r"(\w+ )(\d+):(\d+):(.*)", line)
        if place:
            self.look_at((int(place[2]), int(place[3])))
            line = place[1] + place[4]
        answer = self.ask(line)
        found = re.match(r"(?:Break|Watch)point (\d+)(?: at [^:]*:(\d+))?", answer)
        is_verified = bool(found) and "has no code" not in answer
        return {"verified": is_verified, **({} if is_verified else {"message": answer}),
                **({"id": int(found[1])} if found else {}),
                **({"line": int(found[2])} if found and found[2] else {})}

    def on_set_breakpoints(self, arguments):
        path = arguments["source"]["path"]
        return self.set_points(path, arguments, lambda point: "break %s:%d" % (
            os.path.basename(path), point["line"]))

    def on_set_function_breakpoints(self, arguments):
        return self.set_points("functions", arguments, lambda point: "break " + point["name"])

    def on_set_data_breakpoints(self, arguments):
        return self.set_points("data", arguments, lambda point: (
            "rwatch " if point.get("accessType") == "read" else "watch ") + point["dataId"])

    def on_data_breakpoint_info(self, arguments):
        """The debugger says whether a name can be watched when it is told to."""
        name, place = arguments["name"], place_of(self.focus)
        point = self.set_point("watch " + name)
        if not point["verified"]:
            return {"dataId": None, "description": point["message"]}
        self.ask("delete %d" % point["id"])
        return {"dataId": "%d:%d:%s" % (*place, name), "description": name,
                "accessTypes": ["read", "write"]}

    def on_threads(self, _):
        if "kernel" not in self.stop:
            return {"threads": [{"id": 1, "name": "host"}]}
        (x, y, z), first = self.stop["blockDim"], place_of(self.stop)[1] // LANES * LANES
        return {"threads": [
            {"id": t - first + 1, "name": "block (%d,%d,%d) thread (%d,%d,%d)"
             % (*self.stop["block"], t % x, t // x % y, t // x // y)}
            for t in range(first, min(first + LANES, x * y * z))]}

    def on_stack_trace(self, arguments):
        """A thread without a place has one frame: an editor can point at it, and step back."""
        nowhere = "the thread has exited" if "kernel" in self.focus else "host"
        frames = []
        for frame in self.focus["stack"] or [{"function": nowhere, "line": 0}]:
            path = frame.get("file")
            source = {"source": {"name": os.path.basename(path), "path": path}} if path else {}
            frames.append({"id": arguments["threadId"] * FRAMES + len(frames), "column": 1,
                           "name": frame["function"], "line": frame["line"], **source})
        return {"stackFrames": frames}

    def on_scopes(self, arguments):
        """Only the innermost function has variables here."""
        lane, depth = divmod(arguments["frameId"], FRAMES)
        names = () if depth or "kernel" not in self.focus else ("Locals", "Registers")
        return {"scopes": [{"name": name, "variablesReference": lane * 2 + k, "expensive": k > 0,
                            "presentationHint": name.lower()} for k, name in enumerate(names)]}

    def on_variables(self, arguments):
        are_registers, found = arguments["variablesReference"] % 2, []
        for line in self.ask("info registers" if are_registers else "info locals").splitlines():
            name, sign, value = line.partition(" " if are_registers else " = ")
            found.append({"name": name, "value": value.lstrip(), "variablesReference": 0,
                          "evaluateName": name} if sign else  # or a sentence says why not
                         {"name": "(none)", "value": line, "variablesReference": 0})
        return {"variables": found}

    def on_set_variable(self, arguments):
        answer = self.ask("set var %s = %s" % (arguments["name"], arguments["value"]))
        if not answer.startswith("Earlier"):
            raise Failure(answer)
        return {"value": self.value_of(arguments["name"])}

    def on_evaluate(self, arguments):
        """In the editor's console, any command of the debugger."""
        do = self.ask if arguments.get("context") == "repl" else self.value_of
        return {"result": do(arguments["expression"]), "variablesReference": 0}


def main():
    adapter = Adapter(Editor())
    try:
        with contextlib.suppress(BrokenPipeError):  # the editor has gone
            adapter.serve()
    finally:
        if adapter.process:
            adapter.on_terminate()
            adapter.process.wait()  # it removes what it has compiled


if __name__ == "__main__":
    main()
