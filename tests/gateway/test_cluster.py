"""Manifests watched on an API server: every way in which a watch can end, against a real one in small."""

import asyncio
from contextlib import asynccontextmanager
from random import Random

import pytest
from api_server import api_server
from hypothesis import given, settings
from hypothesis import strategies as st
from served import backend, gateway
from upstream_stub import running, says

from gateway.clock import SystemClock
from gateway.config import Manifests
from gateway.policies.cluster import Cluster, Store, listed, stepped, wait_s
from gateway.policies.holder import ManifestHolder

pytest.importorskip("kubernetes_asyncio")
pytestmark = pytest.mark.slow
CLOCK = SystemClock()


@asynccontextmanager
async def following(folder):
    """An API server, and a cluster watch that follows it; `said` collects what the watch tells."""
    said = []
    holder = ManifestHolder(order=lambda: ("primary", "template", "structured"), clock=CLOCK)
    async with api_server(folder) as (server, kubeconfig):
        cluster = Cluster(
            holder=holder,
            namespace="shop",
            kubeconfig=kubeconfig,
            clock=CLOCK,
            rng=Random(1),
            tell=lambda event, detail: said.append((event, detail)),
        )
        task = asyncio.create_task(cluster.run())
        try:
            yield server, holder, said
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def until(condition, what=None):
    for _ in range(4000):
        if condition():
            return
        await CLOCK.sleep(0.005)
    raise AssertionError(what() if what else "never")


def names(holder):
    return sorted(one.metadata.name for one in holder.current.manifests)


async def test_objects_are_listed_then_watched_and_a_deletion_counts(tmp_path):
    async with following(tmp_path) as (server, holder, said):
        server.apply("one")
        await until(lambda: names(holder) == ["one"], lambda: said)
        assert holder.current.manifests[0].name == "shop/one"
        server.apply("two", endpoint="/refunds", trafficPercentage=15)
        await until(lambda: names(holder) == ["one", "two"])
        server.apply("two", endpoint="/refunds", trafficPercentage=30)
        await until(lambda: holder.current.manifests[1].spec.traffic_percentage == 30)
        server.delete("one")
        await until(lambda: names(holder) == ["two"])
        assert server.lists == 1


async def test_a_version_that_is_gone_leads_to_a_new_list(tmp_path):
    async with following(tmp_path) as (server, holder, said):
        server.apply("one")
        await until(lambda: names(holder) == ["one"])
        await until(lambda: server.watches)
        server.version += 1
        server.apply("two", endpoint="/x")
        server.compact()  # whoever goes on from before this gets a 410
        server.objects.pop("one")
        server.cut()
        await until(lambda: names(holder) == ["two"], lambda: (said, server.watches))
        assert server.lists >= 2


async def test_a_410_as_an_event_is_taken_for_what_it_is(tmp_path):
    async with following(tmp_path) as (server, holder, said):
        server.apply("one")
        server.version += 5
        server.oldest = server.version + 1  # every watch from the listed version is gone, until something happens
        await until(lambda: ("manifests_relisted", "the version to go on from is gone") in said, lambda: said)
        server.version += 1
        await until(lambda: server.watches and server.watches[-1] >= server.oldest)
        server.apply("two", endpoint="/x")
        await until(lambda: names(holder) == ["one", "two"])


async def test_a_cut_watch_and_a_broken_server_are_outlived_with_the_last_set_in_force(tmp_path):
    async with following(tmp_path) as (server, holder, said):
        server.apply("one")
        await until(lambda: server.watches and names(holder) == ["one"])
        server.broken = 2
        server.cut()
        await until(lambda: server.broken == 0)
        assert names(holder) == ["one"]
        server.apply("two", endpoint="/x")
        await until(lambda: names(holder) == ["one", "two"], lambda: said)
        assert [event for event, _ in said].count("manifests_unreachable") >= 2


async def test_a_bookmark_moves_the_version_on(tmp_path):
    async with following(tmp_path) as (server, holder, _):
        server.apply("one")
        await until(lambda: server.watches and names(holder) == ["one"])
        server.bookmark()
        server.apply("one", trafficPercentage=5)
        await until(lambda: holder.current.manifests[0].spec.traffic_percentage == 5)


async def test_a_bad_object_is_refused_with_its_name_and_the_old_set_stays(tmp_path):
    async with following(tmp_path) as (server, holder, said):
        server.apply("one")
        await until(lambda: names(holder) == ["one"])
        server.apply("bad", endpoint="/x", trafficPercentage=1500)
        await until(lambda: holder.refused is not None)
        assert "degradationpolicies/shop/bad: Expected `float` <= 100.0" in holder.refused
        assert names(holder) == ["one"]
        server.apply("bad", fallback="structured")
        await until(lambda: holder.refused is not None and "contradict" in holder.refused, lambda: said)
        assert "'shop/one' and 'shop/bad'" in holder.refused
        server.delete("bad")
        await until(lambda: holder.refused is None)


async def test_the_gateway_follows_the_api_server(tmp_path):
    async with api_server(tmp_path) as (server, kubeconfig), running(says("Paris.")) as up:
        server.apply("one")
        manifests = Manifests(namespace="shop", kubeconfig=kubeconfig)
        async with gateway(backend(up, "primary"), manifests=manifests) as served:
            await until(lambda: served.runtime.manifests.active)
            assert (await served.chat()).record["policy"] == "shop/one"
            server.delete("one")
            await until(lambda: not served.runtime.manifests.active)
            assert (await served.chat()).record == {"level": "healthy"}


def obj(name, version, generation=1):
    return {"metadata": {"name": name, "uid": name, "resourceVersion": str(version), "generation": generation}}


def test_an_older_generation_never_replaces_a_newer_one():
    store = listed({"metadata": {"resourceVersion": "5"}, "items": [obj("a", 5, generation=3)]})
    after = stepped(store, "MODIFIED", obj("a", 6, generation=2))
    assert after.objects["a"]["metadata"]["generation"] == 3
    assert after.version == "6"


events = st.lists(st.tuples(st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]), st.sampled_from("abc")))


@settings(max_examples=50, deadline=None, derandomize=True)
@given(events)
def test_after_any_events_the_store_holds_what_was_last_said_of_each(history):
    store = Store()
    expected: dict[str, int] = {}
    for version, (kind, name) in enumerate(history, start=1):
        store = stepped(store, kind, obj(name, version, generation=version))
        if kind == "DELETED":
            expected.pop(name, None)
        elif kind != "BOOKMARK":
            expected[name] = version
    assert {uid: one["metadata"]["generation"] for uid, one in store.objects.items()} == expected
    assert store.version == str(len(history)) or not history


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(0, 10_000))
def test_the_wait_between_tries_is_bounded(failures):
    assert 0.1 <= wait_s(failures, Random(failures)) <= 30.0
