"""How plans and results show themselves: text, HTML, a report, code."""
