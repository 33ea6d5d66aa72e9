"""A tick-based social simulation engine."""
