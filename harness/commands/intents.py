"""`truefall intents build`: cluster questions into intents for `answers.intents` in the gateway's config."""

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from harness.whole_file import write_whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="build")
    build = actions.add_parser("build", help="write an intent file: INT-01, INT-02, …")
    build.add_argument("--output", type=Path, required=True, metavar="FILE")
    build.add_argument(
        "--evalset", default="questions", metavar="SET", help='a set, "questions", or a .jsonl (default questions)'
    )
    build.add_argument("--responses", type=Path, metavar="FILE", help="TOML: what to answer, by intent or label")
    build.add_argument("--min-size", type=int, default=3, metavar="N", help="questions of the smallest intent (3)")
    build.add_argument(
        "--min-purity",
        type=float,
        default=0.8,
        metavar="SHARE",
        help="of its questions that must have one label for that label's response to be taken (0.8)",
    )
    build.add_argument("--embeddings-url", metavar="URL", help="an OpenAI-compatible server, with /v1")
    build.add_argument("--embeddings-model", metavar="NAME", help="its model; without both the built-in hashing")


def run(args: argparse.Namespace) -> int:
    import msgspec

    from gateway.answers.embedding import HASHED, embed
    from harness.errors import HarnessError
    from harness.gatekeepers.cluster import cluster
    from harness.gatekeepers.labelled import load_questions
    from harness.gatekeepers.responses import load_responses

    if args.min_size < 2:
        raise HarnessError(f"--min-size is {args.min_size}, must be 2 or more")
    if bool(args.embeddings_url) != bool(args.embeddings_model):
        raise HarnessError("--embeddings-url and --embeddings-model go together")
    questions = load_questions(args.evalset)
    texts = [question.question for question in questions]
    if args.embeddings_url:
        space = f"endpoint:{args.embeddings_model}"
        vectors = asyncio.run(embedded(args.embeddings_url, args.embeddings_model, texts))
    else:
        space, vectors = HASHED, [embed(text) for text in texts]
    found = cluster(
        questions,
        vectors,
        space=space,
        min_size=args.min_size,
        min_purity=args.min_purity,
        responses=load_responses(args.responses) if args.responses else {},
        source=f"{args.evalset}, {len(questions)} questions",
    )
    write_whole(args.output, msgspec.json.encode(found.file))
    purity = "" if found.purity is None else f", {found.purity:.0%} of their questions have the intent's label"
    print(f"{args.output}: {len(found.file.intents)} intents, {found.noise} questions in none{purity}")
    for intent in found.file.intents:
        answers = "answers" if intent.responses else "no response"
        print(f"  {intent.id} {intent.label}: {intent.size} questions, {answers}, such as {intent.examples[0]!r}")
    return 0


async def embedded(url: str, model: str, texts: Sequence[str]) -> list[dict[int, float]]:
    """Raises HarnessError when the server leaves one out."""
    import aiohttp

    from gateway.answers.endpoint import EmbeddingEndpoint
    from gateway.config import Embeddings
    from harness.errors import HarnessError

    async with aiohttp.ClientSession() as session:
        config = Embeddings(url=url, model=model, timeout_s=30.0)
        endpoint = EmbeddingEndpoint(config, session=session, environ={})
        found = []
        for text in texts:
            vector = await endpoint.embed(text)
            if vector is None:
                raise HarnessError(f"{url}: {model} gave no embedding for {text[:40]!r}")
            found.append(vector)
        return found
