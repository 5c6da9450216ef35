"""Anchors of headings as GitHub makes them, so that one link leads there in both places."""
import re


def github(title, separator='-'):
    return re.sub(r'[^\w\- ]', '', title.strip().lower()).replace(' ', separator)
