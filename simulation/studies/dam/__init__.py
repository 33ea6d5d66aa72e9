"""`simulation study dam`: attitudes that settle (method.md 10; DAM-LLM)."""
