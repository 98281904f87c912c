"""Room tickets: the file format, the loader, scenarios, static lint, and the tickets themselves.

A ticket is one TOML 1.0 file, ``data/<service>/<Topic>.toml``, checked by ``ticket.schema.json``
and then by name and type against the services that it uses. Anything may carry ``only``, a list of
variants; words stand under a language (``en``, ``zh``), one text or a list of which a seed draws
one.

====================  ============================================================================
``[parameters]``      what a seed draws: id, choice, cents_range, integer_range, date, name,
                      wording, derive (sum, product, difference); a list of them with ``only`` draws
                      otherwise in each variant. ``account``, ``neighbour``, ``customer`` and
                      ``now`` are always there
``[[variants]]``      root causes behind the same opening; each may have its ``ending``, ``queue``
``[[world]]``         records: ``kind``, ``id``, ``tenant`` (self or neighbour) and any field;
                      moments are written relative (``-3d``, ``{expiry}+2d-1h``)
``[[distractors]]``   records of no importance: ``kind``, ``count``, ``fields``, ``vary``;
                      ``{own}``, ``{number}`` and an earlier group's ``name`` may stand in fields
``[[history]]``       money before the opening: ``at``, ``every``, ``times``, ``cents``,
                      ``item``, ``resource``, ``memo``, ``debit``, ``credit``
``[slots.X]``         what can be told: ``type``, ``values`` (phrase groups), or ``value``,
                      ``near``, ``unit``; see ``model.Slot``
``[customer]``        ``mood``, ``patience``, ``opening``, ``facts``, ``beliefs``, ``console``,
                      ``consents``, ``satisfied``
``[predicates.X]``    named predicates, used by ``{ predicate = "X" }``; see ``clauses.HEADS``
``[[checkpoints]]``   ``id``, ``kind``, ``after``, ``skippable``, ``evidence``, ``reference``,
                      ``near_misses``
``[[minefields]]``    ``called`` (and ``with``) or ``said`` (a text, such as a secret); ``policy``,
                      ``effect``, ``unless``
``[[must_flip]]``     named assertions, and ``[[must_hold]]``, ``[[may_change]]``
``[[closings]]``      how the oracle ends: ``kind``, ``queue`` and the words
``[must_pass]``       honest replies that trip nothing
====================  ============================================================================

Placeholders are described in ``templates``. What a wrong file gives is a ``TicketError`` that names
file, path and mend.
"""
