"""The HTTP API: shapes, statuses, errors and the order of the checks."""

import socket

import pytest

DEAD = "127.0.0.1:1"


async def test_a_proxy_has_the_shape_and_the_real_port(api):
    status, body = await api.call("POST", "/proxies", {"name": "p", "upstream": DEAD, "listen": "127.0.0.1:0"})
    assert status == 201
    assert list(body) == ["name", "listen", "upstream", "enabled", "toxics"]
    assert body | {"listen": ""} == {"name": "p", "listen": "", "upstream": DEAD, "enabled": True, "toxics": []}
    assert int(body["listen"].rpartition(":")[2]) > 0
    assert await api.call("GET", "/proxies/p") == (200, body)
    assert await api.call("GET", "/proxies") == (200, {"p": body})


async def test_a_proxy_created_disabled_does_not_listen(api):
    status, body = await api.call("POST", "/proxies", {"name": "p", "upstream": DEAD, "enabled": False})
    assert (status, body["enabled"], body["listen"]) == (201, False, "127.0.0.1:0")


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "bad request body: EOF"),
        (b"{", "bad request body: "),
        (b"[]", "bad request body: "),
        (b"\xff", "bad request body: "),
        (b'"x"', "bad request body: "),
        (b"[" * 100_000, "bad request body: "),
        (b'{"name": ' + b"9" * 5000 + b"}", "bad request body: "),
        (b'{"name": 5, "upstream": "a:1"}', "bad request body: "),
        (b'{"name": "\\ud800", "upstream": "a:1"}', "bad request body: "),
        (b'{"name": "p", "upstream": "a:1", "enabled": "yes"}', "bad request body: "),
        (b"null", "missing required field: name"),
        (b'{"upstream": "a:1"}', "missing required field: name"),
        (b'{"name": "", "upstream": "a:1"}', "missing required field: name"),
        (b'{"name": "p"}', "missing required field: upstream"),
    ],
)
async def test_a_bad_proxy_is_refused_and_the_server_stays_up(api, body, error):
    status, answer = await api.call("POST", "/proxies", data=body)
    assert (status, answer["status"]) == (400, 400)
    assert answer["error"].startswith(error)
    assert await api.call("GET", "/proxies") == (200, {})


async def test_errors_are_labelled_as_plain_text(api):
    async with api.client.get("/proxies/none") as response:
        assert response.headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
async def test_an_unknown_proxy_is_404_before_its_body_is_read(api, method):
    answer = await api.call(method, "/proxies/none", data=b"{")
    assert answer == (404, {"error": "proxy not found", "status": 404})


async def test_an_unknown_toxic_is_404(api):
    await api.proxy(DEAD)
    for method in ("GET", "POST", "PATCH", "DELETE"):
        answer = await api.call(method, "/proxies/p/toxics/none", data=b"{")
        assert answer == (404, {"error": "toxic not found", "status": 404})
    assert (await api.call("GET", "/proxies/none/toxics/none")).body["error"] == "proxy not found"


async def test_a_name_is_taken_once(api):
    await api.proxy(DEAD)
    answer = await api.call("POST", "/proxies", {"name": "p", "upstream": "127.0.0.1:2"})
    assert answer == (409, {"error": "proxy already exists", "status": 409})


async def test_a_port_in_use_is_500_and_nothing_is_created(api):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        status, body = await api.call("POST", "/proxies", {"name": "p", "upstream": DEAD, "listen": listen})
    assert (status, body["status"]) == (500, 500)
    assert listen in body["error"]
    assert "in use" in body["error"]
    assert await api.call("GET", "/proxies") == (200, {})


@pytest.mark.parametrize("listen", ["nowhere", "127.0.0.1:99999", "::1:80", "127.0.0.1:nothing-of-the-kind", "[::1]"])
async def test_an_impossible_listen_address_is_an_error_that_says_why(api, listen):
    status, body = await api.call("POST", "/proxies", {"name": "p", "upstream": DEAD, "listen": listen})
    assert status == 500
    assert listen in body["error"]


async def test_a_proxy_update_takes_what_is_given_and_ignores_the_name(api):
    await api.proxy(DEAD)
    for method in ("PATCH", "POST"):
        status, body = await api.call(method, "/proxies/p", {"name": "q", "enabled": False, "upstream": DEAD})
        assert (status, body["name"], body["enabled"], body["upstream"]) == (200, "p", False, DEAD)
        status, body = await api.call(method, "/proxies/p", {"upstream": "127.0.0.1:2", "enabled": True})
        assert (status, body["upstream"], body["enabled"]) == (200, "127.0.0.1:2", True)


async def test_a_proxy_update_with_the_shape_it_was_shown_changes_nothing(api):
    await api.proxy(DEAD)
    shown = (await api.call("GET", "/proxies/p")).body
    assert await api.call("POST", "/proxies/p", shown) == (200, shown)


async def test_delete_is_204_and_the_port_is_free_again(api):
    listen = await api.proxy(DEAD)
    assert (await api.call("DELETE", "/proxies/p")).status == 204
    assert (await api.call("GET", "/proxies/p")).status == 404
    await api.proxy(DEAD, listen=listen)


async def test_populate_leaves_equal_proxies_alone_and_replaces_others(api):
    listen = await api.proxy(DEAD, name="same")
    await api.toxic("latency", "same", latency=1)
    await api.proxy(DEAD, name="other")
    await api.toxic("latency", "other", latency=1)
    body = [
        {"name": "same", "listen": listen.replace("127.0.0.1", "localhost"), "upstream": DEAD},
        {"name": "other", "listen": "127.0.0.1:0", "upstream": "127.0.0.1:2"},
        {"name": "off", "listen": "127.0.0.1:0", "upstream": DEAD, "enabled": False},
    ]
    status, answer = await api.call("POST", "/populate", body)
    assert status == 201
    assert [(p["name"], p["upstream"], p["enabled"], len(p["toxics"])) for p in answer["proxies"]] == [
        ("same", DEAD, True, 1),
        ("other", "127.0.0.1:2", True, 0),
        ("off", DEAD, False, 0),
    ]


async def test_populate_with_one_bad_entry_creates_nothing(api):
    good = {"name": "a", "upstream": DEAD}
    status, body = await api.call("POST", "/populate", [good, {"name": "b"}])
    assert (status, body["error"], body["proxies"]) == (400, "missing required field: upstream at proxy 2", [])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bad = {"name": "b", "upstream": DEAD, "listen": f"127.0.0.1:{taken.getsockname()[1]}"}
        assert (await api.call("POST", "/populate", [good, bad])).status == 500
    assert (await api.call("POST", "/populate", {"name": "a"})).status == 400
    assert await api.call("GET", "/proxies") == (200, {})


async def test_a_populate_that_fails_leaves_what_it_would_have_replaced(api):
    listen = await api.proxy(DEAD, name="a")
    await api.toxic("latency", "a", latency=1)
    before = await api.call("GET", "/proxies")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        bad = {"name": "b", "upstream": DEAD, "listen": f"127.0.0.1:{taken.getsockname()[1]}"}
        moved = {"name": "a", "upstream": "127.0.0.1:2", "listen": listen}
        assert (await api.call("POST", "/populate", [moved, bad])).status == 500
    assert await api.call("GET", "/proxies") == before


async def test_a_toxic_has_its_shape_and_defaults(api):
    await api.proxy(DEAD)
    status, body = await api.call("POST", "/proxies/p/toxics", {"type": "latency", "attributes": {"latency": 5}})
    assert status == 200
    expected = {"attributes": {"latency": 5, "jitter": 0}, "name": "latency_downstream", "type": "latency"}
    assert body == expected | {"stream": "downstream", "toxicity": 1}
    assert await api.call("GET", "/proxies/p/toxics/latency_downstream") == (200, body)
    assert (await api.call("GET", "/proxies/p")).body["toxics"] == [body]


async def test_a_toxic_is_accepted_on_a_disabled_proxy(api):
    await api.proxy(DEAD, enabled=False)
    await api.toxic("latency", latency=1)


async def test_toxics_are_listed_upstream_first_then_in_the_order_of_creation(api):
    await api.proxy(DEAD)
    for name, stream in (("d1", "downstream"), ("u1", "upstream"), ("d2", "Downstream"), ("u2", "UPSTREAM")):
        await api.toxic("noop", name=name, stream=stream)
    assert [toxic["name"] for toxic in (await api.call("GET", "/proxies/p/toxics")).body] == ["u1", "u2", "d1", "d2"]


async def test_the_checks_of_a_toxic_come_in_their_order(api):
    await api.proxy(DEAD)
    await api.toxic("noop", name="taken")
    bad = {"stream": "sideways", "type": "nothing", "name": "taken", "attributes": {"latencey": 1}}
    steps = [
        ({"toxicity": "x"}, "bad request body: toxicity"),
        ({"toxicity": 2}, "stream was invalid, can be either upstream or downstream"),
        ({"stream": "upstream"}, "invalid toxic type"),
        ({"type": "latency"}, "toxic already exists"),
        ({"name": "free"}, "bad request body: latency has no attribute 'latencey'"),
        ({"attributes": {}}, "bad request body: toxicity must be from 0 to 1, got 2"),
    ]
    for change, error in steps:
        bad |= change
        status, body = await api.call("POST", "/proxies/p/toxics", bad)
        assert body["error"].startswith(error)
        assert status == body["status"] == (409 if "exists" in error else 400)
    assert (await api.call("POST", "/proxies/p/toxics", bad | {"toxicity": 1})).status == 200


async def test_toxic_names_are_unique_across_both_directions(api):
    await api.proxy(DEAD)
    await api.toxic("noop", name="n", stream="upstream")
    answer = await api.call("POST", "/proxies/p/toxics", {"type": "noop", "name": "n", "stream": "downstream"})
    assert answer == (409, {"error": "toxic already exists", "status": 409})


@pytest.mark.parametrize(
    "toxic",
    [
        {"type": "slicer", "attributes": {"average_size": 0}},
        {"type": "bandwidth", "attributes": {"rate": 0}},
        {"type": "bandwidth", "attributes": {"rate": -1}},
        {"type": "latency", "attributes": {"latencey": 100}},
        {"type": "latency", "atributes": {"latency": 100}},
        {"type": "latency", "toxicty": 0.5},
        {"type": "latency", "toxicity": -0.1},
        {"type": "latency", "attributes": [1]},
        {"type": "latency", "ttl_ms": 0},
        {"type": "latency", "ttl_ms": True},
    ],
)
async def test_f1_impossible_toxics_are_400_and_the_server_stays_up(api, toxic):
    await api.proxy(DEAD)
    status, body = await api.call("POST", "/proxies/p/toxics", toxic)
    assert (status, body["error"][:18]) == (400, "bad request body: ")
    assert await api.call("GET", "/proxies/p/toxics") == (200, [])
    assert (await api.call("GET", "/version")).status == 200


async def test_an_update_takes_only_attributes_and_toxicity(api):
    await api.proxy(DEAD)
    await api.toxic("latency", latency=5, jitter=3)
    change = {"name": "x", "type": "noop", "stream": "upstream", "toxicity": 0.5, "attributes": {"latency": 9}}
    status, body = await api.call("PATCH", "/proxies/p/toxics/latency_downstream", change)
    expected = {"attributes": {"latency": 9, "jitter": 3}, "name": "latency_downstream", "type": "latency"}
    assert (status, body) == (200, expected | {"stream": "downstream", "toxicity": 0.5})


async def test_a_bad_update_changes_nothing(api):
    await api.proxy(DEAD)
    before = await api.toxic("bandwidth", rate=5)
    for change in ({"attributes": {"rate": 0}}, {"toxicity": 7, "attributes": {"rate": 9}}, {"tox": 1}):
        assert (await api.call("POST", "/proxies/p/toxics/bandwidth_downstream", change)).status == 400
    assert (await api.call("GET", "/proxies/p/toxics/bandwidth_downstream")).body == before


async def test_reset_enables_every_proxy_and_removes_every_toxic(api):
    await api.proxy(DEAD, name="a", enabled=False)
    await api.proxy(DEAD, name="b")
    await api.toxic("latency", "b", latency=5)
    assert (await api.call("POST", "/reset")).status == 204
    proxies = (await api.call("GET", "/proxies")).body
    assert [(p["enabled"], p["toxics"]) for p in proxies.values()] == [(True, []), (True, [])]


async def test_version_unknown_paths_and_browsers(api):
    assert (await api.call("GET", "/version")).body["version"].startswith("2.")
    assert await api.call("GET", "/nothing") == (404, "404 page not found\n")
    assert (await api.call("PUT", "/proxies")).status == 405
    assert (await api.call("GET", "/version", headers={"User-Agent": "Mozilla/5.0"})).status == 403


@pytest.mark.parametrize("name", ["a/b", "北京 café", "per%cent", 'quo"te\n', "{x}", "."])
async def test_any_name_can_be_addressed(api, name):
    from urllib.parse import quote

    from yarl import URL

    await api.proxy(DEAD, name=name)
    quoted = quote(name, safe="").replace(".", "%2E")
    toxics = URL(str(api.client.make_url("/")) + f"proxies/{quoted}/toxics", encoded=True)
    async with api.client.session.post(toxics, json={"type": "noop", "name": name}) as response:
        assert response.status == 200
    async with api.client.session.delete(URL(f"{toxics}/{quoted}", encoded=True)) as response:
        assert response.status == 204
    assert (await api.call("GET", "/metrics")).status == 200


async def test_evidence_is_shown_only_when_asked_for(api):
    await api.proxy(DEAD)
    await api.toxic("latency", latency=5)
    path = "/proxies/p/toxics/latency_downstream"
    assert "evidence" not in (await api.call("GET", path)).body
    assert (await api.call("GET", f"{path}?evidence=1")).body["evidence"] == {"connections": 0, "bytes": 0}
    assert (await api.call("DELETE", f"{path}?evidence=1")).body["name"] == "latency_downstream"
    removed = (await api.call("GET", "/proxies/p?evidence=1")).body["evidence"]["removed_toxics"]
    assert [toxic["name"] for toxic in removed] == ["latency_downstream"]
