"""What a personality's memories do to what it says: studies with a speaker and a judge.

`forced_choice` is the study `dialogue`, `adversarial` the study of that name, and `response` the
study `attachment-response`. `words` holds every word that is put before a model, `profiles` the
people, `rounds` what they recall and say.

Source: PersMem, 4.2, 4.4, E.8, F.1 to F.3, H.1 to H.3.
"""
