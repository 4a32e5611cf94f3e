"""The demonstration as a page: one HTML file that needs nothing else and asks nobody anything.

`render` is pure. Elements are built as a tree, so that every text is escaped by construction; style and
script are inlined and named by hash in the page's own content security policy.
"""

from sfams.lab.page.document import MARK, render

__all__ = ["MARK", "render"]
