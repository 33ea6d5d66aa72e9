"""A run as one page for people: sentences, pictures, tables, and the SQL behind every number."""

from simulation.analysis.report.building import Written, report, write_report

__all__ = ["Written", "report", "write_report"]
