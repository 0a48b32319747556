"""A real browser without a screen, driven over a pipe in the DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Page:
    """One tab.

    Attributes:
        events: what the browser reported since it was started: requests, console, exceptions, blocked content.
    """

    def __init__(self, inlet: int, outlet: int) -> None:
        self._inlet, self._outlet = inlet, outlet
        self._held = b""
        self._number = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []

    def attach(self) -> None:
        """Open a tab and ask to be told everything."""
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.do("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for area in ("Page", "Runtime", "Network", "Log"):
            self.do(f"{area}.enable")

    def do(self, method: str, **params: Any) -> dict[str, Any]:
        """Give one command and return its answer."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": params}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._inlet, json.dumps(command).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == self._number:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result
            self.events.append(message)

    def open(self, url: str) -> None:
        """Load a page to its end, anew also where it is shown already; `events` are of this page alone."""
        for each in ("about:blank", url):
            self.events.clear()
            self.do("Page.navigate", url=each)
            while not self.names("Page.loadEventFired"):
                self.events.append(self._read())

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.do("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def look(self, *, width: int, height: int = 900, scheme: str = "light") -> None:
        """Set the window's size and the color scheme that is preferred."""
        self.do(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def point_at(self, selector: str) -> None:
        """Move the mouse onto the first element that matches."""
        where = f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView(); "
        where += "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        x, y = self.ask(where)
        self.do("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def picture(self, path: Path) -> None:
        """Save the whole page as PNG."""
        shot = self.do("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def names(self, method: str) -> list[dict[str, Any]]:
        """The parameters of every event of this kind."""
        return [event["params"] for event in self.events if event.get("method") == method]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            data = os.read(self._outlet, 1 << 16)
            assert data, "the browser ended"
            self._held += data
        line, _, self._held = self._held.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


@contextmanager
def browser(program: str) -> Iterator[Page]:
    """Start a browser with a tab; nothing of it is left afterwards."""
    to_browser, from_browser = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory() as home:
        # It reads commands from descriptor 3 and writes answers to descriptor 4.
        command = [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", f"--user-data-dir={home}/profile", "--remote-debugging-pipe",
        ]  # fmt: skip
        shell = f'exec "$@" 3<&{to_browser[0]} 4>&{from_browser[1]}'
        process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command],
            pass_fds=(to_browser[0], from_browser[1]),
            env={**os.environ, "HOME": home, "TMPDIR": home},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser[0])
        os.close(from_browser[1])
        page = Page(to_browser[1], from_browser[0])
        try:
            page.attach()
            yield page
            page._session = ""
            page.do("Browser.close")
        finally:
            os.close(to_browser[1])
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(from_browser[0])
