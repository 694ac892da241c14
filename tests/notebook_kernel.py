"""A real kernel, driven as a front end does: cells, messages, interrupts."""

import os
import signal
import threading

from jupyter_client.manager import start_new_kernel

SETUP = """%load_ext cvnb
import time, numpy as np
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
X, y = load_iris(return_X_y=True)
class Slow(DummyClassifier):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.05)
        return super().fit(X, y, sample_weight)
"""


class Kernel:
    """A kernel with cvnb's dependencies, and its client."""

    def __init__(self):
        self.manager, self.client = start_new_kernel(
            kernel_name="python3", env=os.environ | {"CVNB_PROGRESS": "auto"}
        )

    def run(self, cell, interrupt_when=None):
        """Run a cell; return its reply and messages.

        The kernel is interrupted once `interrupt_when(messages)` is true.
        """
        messages, interrupted = [], threading.Event()

        def hook(message):
            messages.append((message["msg_type"], message["content"]))
            if (
                interrupt_when is not None
                and not interrupted.is_set()
                and interrupt_when(messages)
            ):
                interrupted.set()
                self.manager.interrupt_kernel()

        reply = self.client.execute_interactive(cell, output_hook=hook, timeout=120)
        return reply["content"], messages

    def hear(self, until):
        """Return the messages of any cell, up to the first for which `until` is true."""
        messages = []
        while not messages or not until(
            messages[-1]["msg_type"], messages[-1]["content"]
        ):
            messages.append(self.client.get_iopub_msg(timeout=30))
        return messages

    def interrupt(self):
        """Interrupt as the manager does, without its event loop: works from any thread."""
        os.killpg(self.manager.provisioner.pgid, signal.SIGINT)

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def value(self, expression):
        """Return the printed value of an expression."""
        reply, messages = self.run(f"print({expression})")
        assert reply["status"] == "ok", reply
        return "".join(
            content["text"] for kind, content in messages if kind == "stream"
        ).strip()


def kinds(messages):
    return [kind for kind, _ in messages if kind not in ("status", "execute_input")]
