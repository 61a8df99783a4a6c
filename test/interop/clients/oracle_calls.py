"""Calls."""
