"""Warnings filtered in one thread only."""

import threading
import warnings

from cvnb.runtime.thread_warnings import quiet


def test_what_is_quiet_in_one_thread_is_heard_in_another():
    """And nothing is left behind."""
    inside, done, heard = threading.Event(), threading.Event(), []

    def hush():
        with quiet():
            warnings.warn("not to be heard", UserWarning, stacklevel=1)
            inside.set()
            done.wait(20)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        thread = threading.Thread(target=hush)
        thread.start()
        assert inside.wait(20)
        warnings.warn("to be heard", UserWarning, stacklevel=1)
        done.set()
        thread.join()
        heard += [str(one.message) for one in caught]
        # another thread may take its own filter away meanwhile
        assert [entry for entry in warnings.filters if entry not in before] == []
    assert heard == ["to be heard"]
