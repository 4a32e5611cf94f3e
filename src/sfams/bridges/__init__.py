"""Bridges to what others keep: importers turn files into drafts, exporters turn records into files.

A bridge reads bytes or values that it is given and yields values. It opens no file, asks no network
and reads no clock, and it never holds back what it could not take: every refusal is listed with the
line, the field and the reason.
"""
