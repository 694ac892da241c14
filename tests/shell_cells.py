"""Cells and completions in an IPython shell."""

from IPython.utils.io import capture_output


def run(shell, cell):
    """Return the value of a cell; raise its error."""
    with capture_output():
        outcome = shell.run_cell(cell, store_history=True)
    outcome.raise_error()
    return outcome.result


def completions(shell, text):
    """Return the texts of the completions at the end of a text."""
    from IPython.core.completer import provisionalcompleter

    with provisionalcompleter():
        return [
            completion.text
            for completion in shell.Completer.completions(text, len(text))
        ]
