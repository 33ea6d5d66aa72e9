"""Questions asked of finished runs; nothing here knows the engine."""
