"""Models: who acts for a persona: the embedded `rule`, or a language model that writes."""
