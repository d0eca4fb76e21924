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
PLACE = {"name": "scan.cu", "path": SOURCE}
LOOP = {"line": 27, "condition": "t == 40 && d == 2"}
THREAD = "block (0,0,0) thread (40,0,0)"


def setUpModule():
    subprocess.run(["nvcc", "-G", "-arch=sm_90", "-cudart", "shared", "-o", SCAN, SOURCE],
                   check=True)


def tearDownModule():
    FOLDER.cleanup()


class Client(unittest.TestCase):
    """Sends requests, and keeps the events that come before each response."""

    def setUp(self):
        self.adapter = subprocess.Popen([EMU, "dap"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.adapter.communicate)
        self.addCleanup(self.adapter.kill)
        self.events, self.seq = [], 0

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
        while (event := self.events.pop(0) if self.events else self.receive())["event"] != name:
            pass
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

    def break_at(self, *points):
        found = self.ask("setBreakpoints", source=PLACE, breakpoints=points)["breakpoints"]
        return [(point["id"], point["verified"], point["line"]) for point in found]

    def evaluate(self, expression, context="hover", **others):
        return self.ask("evaluate", expression=expression, context=context, **others)["result"]


class Sessions(Client):
    def test_forward_and_back(self):
        self.launch()
        self.assertEqual(self.break_at({"line": 36}, LOOP), [(1, True, 36), (2, True, 27)])
        self.assertEqual(self.go("configurationDone"), ("breakpoint", 27, THREAD))
        self.assertEqual(self.break_at({"line": 18}, LOOP), [(3, True, 19), (2, True, 27)])
        self.break_at(LOOP)
        self.assertEqual(self.evaluate("info breakpoints", "repl"),
                         "2   break scan.cu:27 if t == 40 && d == 2, hit 1 times")

        frame, = self.ask("stackTrace", threadId=9)["stackFrames"]
        self.assertEqual((frame["name"], frame["source"]), ("scan", PLACE))
        local, registers = (scope["variablesReference"]
                            for scope in self.ask("scopes", frameId=frame["id"])["scopes"])
        values = {v["name"]: v["value"] for reference in (local, registers) for v in self.ask(
            "variables", variablesReference=reference)["variables"]}
        self.assertEqual((values["t"], values["n"]), ("40", "64"))
        self.assertIn("%r5", values)
        self.assertEqual(self.ask("setVariable", variablesReference=local, name="left",
                                  value="5")["value"], "5")
        self.assertEqual(self.evaluate("left"), "5")
        other = self.ask("stackTrace", threadId=1)["stackFrames"][0]  # lane 0 of the warp
        self.assertEqual(self.evaluate("t", frameId=other["id"]), "32")

        self.assertEqual(self.go("next", threadId=9), ("step", 28, THREAD))
        self.assertEqual(self.evaluate("temp[t]"), "7")
        self.assertEqual(self.go("stepBack", threadId=9), ("breakpoint", 27, THREAD))
        self.assertEqual((self.evaluate("temp[t]"), self.evaluate("d")), ("2", "2"))
        self.assertEqual(self.go("stepIn", threadId=9), ("step", 15, THREAD))
        self.assertEqual([f["name"] for f in self.ask("stackTrace", threadId=9)["stackFrames"]],
                         ["sum", "scan"])
        self.assertEqual(self.go("stepOut", threadId=9)[1:], (27, THREAD))
        self.assertIn("stored 1", self.evaluate("who temp[t]", "repl"))
        self.event("stopped")

    def test_a_data_breakpoint_and_the_end(self):
        self.launch()
        point, = self.ask("setFunctionBreakpoints", breakpoints=[{"name": "scan"}])["breakpoints"]
        self.assertTrue(point["verified"])
        self.assertEqual(self.go("configurationDone")[:2], ("breakpoint", 22))
        self.ask("setFunctionBreakpoints", breakpoints=[])
        self.assertIsNone(self.ask("dataBreakpointInfo", name="t")["dataId"])
        data = self.ask("dataBreakpointInfo", name="temp[3]")["dataId"]
        points = [{"dataId": data, "accessType": access} for access in ("write", "read")]
        self.assertTrue(all(p["verified"] for p in self.ask(
            "setDataBreakpoints", breakpoints=points)["breakpoints"]))
        self.assertEqual(self.go("continue")[0], "data breakpoint")
        self.ask("setDataBreakpoints", breakpoints=points[:1])
        self.assertEqual(self.go("continue")[::2],
                         ("data breakpoint", "block (0,0,0) thread (3,0,0)"))
        self.go("continue")
        self.assertEqual(self.go("reverseContinue")[1], 27)
        self.ask("setDataBreakpoints", breakpoints=[])
        self.assertEqual(self.go("continue"), ("end", 0, "host"))
        self.assertEqual(self.go("reverseContinue")[0], "step")  # as far as the history goes
        self.go("continue")
        self.ask("continue")
        self.assertEqual(self.event("exited"), {"exitCode": 3})
        self.event("terminated")
        self.assertEqual(self.answer("next")["message"], "no program is being debugged")
        self.ask("disconnect")
        self.assertEqual(self.adapter.wait(), 0)

    def test_a_race_and_the_programs_output(self):
        self.launch(tool="racecheck", cwd=FOLDER.name, args=["wide"])
        self.assertEqual(self.go("configurationDone")[0], "exception")
        self.assertIn("other access", self.evaluate("other", "repl"))
        self.event("stopped")
        while self.go("continue")[0] != "end":
            pass
        self.ask("continue")
        output = {"stdout": "", "stderr": ""}
        while (event := self.receive())["event"] != "exited":
            output[event["body"]["category"]] += event["body"]["output"]
        self.assertIn("128.25", output["stdout"])
        self.assertIn("=========", output["stderr"])

    def test_pause_and_what_waits_for_it(self):
        self.launch(args=["spin"])
        self.ask("configurationDone")
        self.send("evaluate", expression="threadIdx.x < 64")
        self.send("pause")
        messages = [self.receive() for _ in range(3)]
        self.assertEqual([m.get("command") or m["body"]["reason"] for m in messages],
                         ["pause", "pause", "evaluate"])
        self.assertEqual(messages[2]["body"]["result"], "1")
        self.ask("terminate")
        self.event("terminated")

    def test_a_source_file_slow(self):
        for text, starts in (("int main() { return x; }\n", False),
                             ("__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n", True)):
            (Path(FOLDER.name) / "own.cu").write_text(text, encoding="utf-8")
            self.events = []
            response = self.answer("launch", program="own.cu", cwd=FOLDER.name)
            self.assertEqual(response["success"], starts)
            said = "".join(e["body"].get("output", "") for e in self.events)
            self.assertIn("-G" if starts else 'identifier "x" is undefined', said)


class Refusals(Client):
    REQUESTS = (
        ("flyToTheMoon", {}, "emu dap has no request flyToTheMoon"),
        ("launch", {"program": SCAN}, "a program has been launched already"),
        ("pause", {}, "nothing runs that could be paused"),
        ("setBreakpoints", {"source": {}}, '"path" is missing'),
        ("evaluate", {"expression": "tmp"},
         "No kernel is running here: `back` goes to the end of the one before."),
    )

    def test_requests(self):
        self.assertEqual(self.answer("next")["message"], "no program is being debugged")
        self.assertEqual(self.answer("launch")["message"], '"program" is missing')
        self.launch()
        for command, arguments, wanted in self.REQUESTS:
            response = self.answer(command, **arguments)
            self.assertEqual((response["success"], response["message"]), (False, wanted))

    def refuses(self, said, **options):
        done = subprocess.run([EMU, "dap"], capture_output=True, check=False, **options)
        self.assertEqual((done.returncode, done.stderr.startswith(said)), (2, True), done.stderr)

    def test_inputs(self):
        for text in (b"hello\r\n\r\n", b"Content-Length: 9\r\n\r\n{}",
                     b"Content-Length: 7\r\n\r\n{\"a\":1}"):
            self.refuses(b"emu: emu dap: the input is no request of the Debug", input=text)

    def test_no_python3(self):
        self.refuses(b"emu: emu dap needs python3, and cannot run it: No such file or directory;",
                     env={"PATH": FOLDER.name})


if __name__ == "__main__":
    unittest.main()
