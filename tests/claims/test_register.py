"""The register is complete: every public claim of a proof, bound or guarantee is checked."""

from __future__ import annotations

import inspect

from tests.claims import no_claim, public
from tests.claims.register import all_claims

COVERED = {name for claim in all_claims().values() for name in claim.covers}
FRAGMENTS = {text: claim.name for claim in all_claims().values() for text in claim.sentences}


def is_silent_method(name: str, value: object) -> bool:
    """Whether this is the name of a method whose docstring claims nothing."""
    owner = public.names().get(name.rpartition(".")[0])
    method = inspect.isclass(owner) and inspect.isroutine(value)
    return method and not public.claims_something(inspect.getdoc(value))


def test_every_public_name_has_a_claim_or_a_reason_why_not() -> None:
    missing = [
        name for name, value in public.names().items()
        if name not in COVERED and not public.is_exempt(name)
        and not inspect.ismodule(value) and not is_silent_method(name, value)
    ]  # fmt: skip
    assert not missing, (
        "These public names are not in the register of claims. Add each to `covers` of a claim in "
        "tests/claims that compares it with an oracle or, if it claims nothing, to NAMES of "
        f"tests/claims/no_claim.py with the reason: {', '.join(missing)}"
    )


def test_every_sentence_with_the_words_of_a_claim_has_a_claim_or_a_reason() -> None:
    fragments = [*FRAGMENTS, *no_claim.SENTENCES]
    missing = [
        f"{sentence.place}: {sentence.text!r}" for sentence in public.sentences()
        if not any(fragment in sentence.text for fragment in fragments)
    ]  # fmt: skip
    assert not missing, (
        "These sentences are not in the register of claims. Add a piece of each to `sentences` of "
        "a claim in tests/claims that reads it and checks its numbers or, if it claims nothing, to "
        "SENTENCES of tests/claims/no_claim.py with the reason:\n" + "\n".join(missing)
    )


def test_names_of_the_register_exist() -> None:
    known = public.names()
    gone = sorted(COVERED - known.keys())
    idle = [
        pattern for pattern in no_claim.NAMES
        if not any(public.matches(name, pattern) for name in known)
    ]  # fmt: skip
    assert not gone, f"Claims cover names that are no longer public: {', '.join(gone)}"
    assert not idle, f"no_claim.NAMES has patterns that no public name has: {', '.join(idle)}"


def test_sentences_of_the_register_exist() -> None:
    texts = [sentence.text for sentence in public.sentences()]
    gone = [
        f"{fragment!r} ({FRAGMENTS.get(fragment, 'no_claim')})"
        for fragment in (*FRAGMENTS, *no_claim.SENTENCES)
        if not any(fragment in text for text in texts)
    ]
    assert not gone, f"The register has sentences that are no longer there: {', '.join(gone)}"
