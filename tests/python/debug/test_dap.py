"""test_dap.py -- emu dap: a client of the Debug Adapter Protocol, message by message."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
EMU = TOP / "build/emu/emu"
SOURCE = str(TOP / "tests/python/debug/scan.cu")
FOLDER = tempfile.TemporaryDirectory()
SCAN = str(Path(FOLDER.name) / "scan")


def setUpModule():
    subprocess.run(["nvcc", "-G", "-arch=sm_90", "-cudart", "shared", "-o", SCAN, SOURCE],
                   check=True)


def tearDownModule():
    FOLDER.cleanup()


class Client:
    """Sends requests, and keeps the events that come before each response."""

    def __init__(self):
        self.adapter = subprocess.Popen([EMU, "dap"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.events, self.seq = [], 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.adapter.kill()
        self.adapter.communicate()

    def receive(self):
        head = self.adapter.stdout.readline()
        assert head.startswith(b"Content-Length: "), (head, self.adapter.stderr.read())
        assert self.adapter.stdout.readline() == b"\r\n"
        return json.loads(self.adapter.stdout.read(int(head.split()[1])))

    def send(self, command, **arguments):
        self.seq += 1
        body = json.dumps({"seq": self.seq, "type": "request", "command": command,
                           "arguments": arguments}).encode()
        self.adapter.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.adapter.stdin.flush()

    def answer(self, command, **arguments):
        """The response, whether it is a success or not."""
        self.send(command, **arguments)
        while (message := self.receive())["type"] == "event":
            self.events.append(message)
        assert (message["request_seq"], message["command"]) == (self.seq, command), message
        return message

    def ask(self, command, **arguments):
        response = self.answer(command, **arguments)
        assert response["success"], response
        return response["body"]

    def event(self, name):
        """The next event of that name."""
        while True:
            event = self.events.pop(0) if self.events else self.receive()
            if event["event"] == name:
                return event["body"]

    def go(self, command, **arguments):
        """The stop at which a request that goes on ends: its reason, line and thread's name."""
        self.ask(command, **arguments)
        stop = self.event("stopped")
        frame = self.ask("stackTrace", threadId=stop["threadId"])["stackFrames"][0]
        names = {t["id"]: t["name"] for t in self.ask("threads")["threads"]}
        return stop["reason"], frame["line"], names[stop["threadId"]]

    def launch(self, program=SCAN, **others):
        self.ask("initialize", adapterID="upsweep")
        self.ask("launch", program=program, **others)
        self.event("initialized")

    def evaluate(self, expression, context="hover"):
        return self.ask("evaluate", expression=expression, context=context)["result"]


PLACE = {"name": "scan.cu", "path": SOURCE}
LOOP = {"line": 27, "condition": "t == 40 && d == 2"}
THREAD = "block (0,0,0) thread (40,0,0)"


class Sessions(unittest.TestCase):
    def test_forward_and_back(self):
        with Client() as c:
            c.launch()
            points = c.ask("setBreakpoints", source=PLACE, breakpoints=[{"line": 36}, LOOP])
            self.assertEqual(points["breakpoints"], [{"verified": True, "id": 1, "line": 36},
                                                     {"id": 2, "verified": True, "line": 27}])
            self.assertEqual(c.go("configurationDone"), ("breakpoint", 27, THREAD))
            points = c.ask("setBreakpoints", source=PLACE, breakpoints=[{"line": 18}, LOOP])
            self.assertEqual(points["breakpoints"], [{"id": 3, "verified": True, "line": 19},
                                                     {"id": 2, "verified": True, "line": 27}])
            c.ask("setBreakpoints", source=PLACE, breakpoints=[LOOP])
            self.assertEqual(c.evaluate("info breakpoints", "repl"),
                             "2   break scan.cu:27 if t == 40 && d == 2, hit 1 times")

            frame, = c.ask("stackTrace", threadId=9)["stackFrames"]
            self.assertEqual((frame["name"], frame["source"]), ("scan", PLACE))
            values = {}
            for scope in c.ask("scopes", frameId=frame["id"])["scopes"]:
                values[scope["name"]] = {
                    v["name"]: v["value"] for v in c.ask(
                        "variables", variablesReference=scope["variablesReference"])["variables"]}
                reference = scope["variablesReference"] & ~1
            self.assertEqual((values["Locals"]["t"], values["Locals"]["n"]), ("40", "64"))
            self.assertIn("%r5", values["Registers"])
            self.assertEqual(c.ask("setVariable", variablesReference=reference, name="left",
                                   value="5")["value"], "5")
            self.assertEqual(c.evaluate("left"), "5")
            other = c.ask("stackTrace", threadId=1)["stackFrames"][0]  # lane 0 of the warp
            self.assertEqual(c.ask("evaluate", expression="t", frameId=other["id"])["result"], "32")

            self.assertEqual(c.go("next", threadId=9), ("step", 28, THREAD))
            self.assertEqual(c.evaluate("temp[t]"), "7")
            self.assertEqual(c.go("stepBack", threadId=9), ("breakpoint", 27, THREAD))
            self.assertEqual((c.evaluate("temp[t]"), c.evaluate("d")), ("2", "2"))
            self.assertEqual(c.go("stepIn", threadId=9), ("step", 15, THREAD))
            self.assertEqual([f["name"] for f in c.ask("stackTrace", threadId=9)["stackFrames"]],
                             ["sum", "scan"])
            self.assertEqual(c.go("stepOut", threadId=9)[1:], (27, THREAD))
            self.assertIn("stored 1", c.evaluate("who temp[t]", "repl"))
            c.event("stopped")

    def test_a_data_breakpoint_and_the_end(self):
        with Client() as c:
            c.launch()
            point, = c.ask("setFunctionBreakpoints", breakpoints=[{"name": "scan"}])["breakpoints"]
            self.assertTrue(point["verified"])
            self.assertEqual(c.go("configurationDone")[:2], ("breakpoint", 22))
            c.ask("setFunctionBreakpoints", breakpoints=[])
            self.assertIsNone(c.ask("dataBreakpointInfo", name="t")["dataId"])
            data = c.ask("dataBreakpointInfo", name="temp[3]")["dataId"]
            points = [{"dataId": data, "accessType": access} for access in ("write", "read")]
            self.assertTrue(all(p["verified"] for p in c.ask("setDataBreakpoints",
                                                             breakpoints=points)["breakpoints"]))
            self.assertEqual(c.go("continue")[0], "data breakpoint")
            points = c.ask("setDataBreakpoints", breakpoints=points[:1])["breakpoints"]
            written = c.go("continue")
            self.assertEqual(written[0::2], ("data breakpoint", "block (0,0,0) thread (3,0,0)"))
            c.go("continue")
            self.assertEqual(c.go("reverseContinue")[1], 27)
            c.ask("setDataBreakpoints", breakpoints=[])
            self.assertEqual(c.go("continue"), ("end", 0, "host"))
            self.assertEqual(c.go("reverseContinue")[0], "step")  # as far back as the history goes
            c.go("continue")
            c.ask("continue")
            self.assertEqual(c.event("exited"), {"exitCode": 3})
            c.event("terminated")
            self.assertEqual(c.answer("next")["message"], "no program is being debugged")
            c.ask("disconnect")
            self.assertEqual(c.adapter.wait(), 0)

    def test_a_race_and_the_programs_output(self):
        with Client() as c:
            c.launch(tool="racecheck", cwd=FOLDER.name, args=["wide"])
            self.assertEqual(c.go("configurationDone")[0], "exception")
            self.assertIn("other access", c.evaluate("other", "repl"))
            c.event("stopped")
            while c.go("continue")[0] != "end":
                pass
            c.ask("continue")
            output = {"stdout": "", "stderr": ""}
            while (event := c.receive())["event"] != "exited":
                output[event["body"]["category"]] += event["body"]["output"]
            self.assertIn("128.25", output["stdout"])
            self.assertIn("=========", output["stderr"])

    def test_pause_and_what_waits_for_it(self):
        with Client() as c:
            c.launch(args=["spin"])
            c.ask("configurationDone")
            c.send("evaluate", expression="threadIdx.x < 64")
            c.send("pause")
            messages = [c.receive() for _ in range(3)]
            self.assertEqual([m.get("command") or m["body"]["reason"] for m in messages],
                             ["pause", "pause", "evaluate"])
            self.assertEqual(messages[2]["body"]["result"], "1")
            c.ask("terminate")
            c.event("terminated")


class Refusals(unittest.TestCase):
    REQUESTS = (
        ("flyToTheMoon", {}, "emu dap has no request flyToTheMoon"),
        ("launch", {"program": SCAN}, "a program has been launched already"),
        ("pause", {}, "nothing runs that could be paused"),
        ("setBreakpoints", {"source": {}}, "the source has no path: it is in no file"),
        ("evaluate", {"expression": "tmp"}, "No kernel is running here."),
        ("setVariable", {"name": "t"}, '"name" and "value" are needed'),
    )
    INPUTS = (
        (b"hello\r\n\r\n", "has no Content-Length"),
        (b"x" * 2000, "has no Content-Length"),
        (b"Content-Length: 5\r\n\r\n{\"a\":", "is no request in JSON"),
        (b"Content-Length: 7\r\n\r\n{\"a\":1}", "is no request in JSON"),
        (b"Content-Length: 4\r\n\r\n\"\\u1", "is no request in JSON"),
        (b"Content-Length: 90\r\n\r\n" + b"[" * 90, "is no request in JSON"),
        (b"Content-Length: 9\r\n\r\n{}", "the input ends within a message"),
    )

    def test_requests(self):
        with Client() as c:
            self.assertEqual(c.answer("next")["message"], "no program is being debugged")
            self.assertIn('"program" is missing', c.answer("launch")["message"])
            c.launch()
            for command, arguments, wanted in self.REQUESTS:
                response = c.answer(command, **arguments)
                self.assertEqual((response["success"], response["message"]), (False, wanted))

    def test_inputs(self):
        for text, wanted in self.INPUTS:
            done = subprocess.run([EMU, "dap"], input=text, capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, text)
            self.assertRegex(done.stderr.decode(), "^emu: .*%s.*\n$" % wanted)

    def test_a_source_file_slow(self):
        for text, starts in (("__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n", True),
                             ("int main() { return x; }\n", False)):
            (Path(FOLDER.name) / "own.cu").write_text(text, encoding="utf-8")
            with Client() as c:
                response = c.answer("launch", program="own.cu", cwd=FOLDER.name)
                self.assertEqual(response["success"], starts)
                said = "".join(e["body"]["output"] for e in c.events if e["event"] == "output")
                self.assertIn("-G" if starts else 'identifier "x" is undefined', said)


if __name__ == "__main__":
    unittest.main()
