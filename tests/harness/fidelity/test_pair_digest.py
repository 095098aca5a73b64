"""What the cross-encoder remembers a pair by."""

from harness.fidelity.cross_encoder import digest_of


def test_a_pair_is_remembered_by_sixteen_bytes_however_long_it_is() -> None:
    assert {len(digest_of(*pair)) for pair in (("", ""), ("订单", "x" * 100_000))} == {16}


def test_pairs_that_differ_in_anything_are_told_apart() -> None:
    pairs = [("ab", "c"), ("a", "bc"), ("c", "ab"), ("abc", ""), ("", "abc"), ("ab", "c "), ("ab\ud83d", "c")]
    assert len({digest_of(*pair) for pair in pairs}) == len(pairs)
    assert digest_of("ab", "c") == digest_of("a" + "b", "c")
