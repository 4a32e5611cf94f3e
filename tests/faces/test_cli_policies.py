"""policy show, set and diff, and the queue of plans."""

from pathlib import Path
from typing import Any


def test_the_policy_in_force_is_shown_with_where_it_comes_from(cli: Any) -> None:
    cli("init")
    shown = cli("policy", "show")
    assert 'name = "adaptive"' in shown.stdout
    assert shown.stderr == "From the settings.\n"
    assert cli.json("policy", "set", "long-research")["policy"]["name"] == "long-research"
    assert cli.json("policy", "show")["scope"] is not None
    assert cli.json("plan")["policy"]["name"] == "long-research"
    assert cli.json("policy", "set", "--unset")["scope"] is None


def test_a_file_is_set_and_what_differs_is_told(cli: Any, tmp_path: Path) -> None:
    cli("init")
    path = tmp_path / "mine.toml"
    path.write_text('base = "adaptive"\nname = "我的"\n[budget]\nrecords = 12\n', "utf-8")
    assert cli.json("policy", "set", str(path))["policy"]["name"] == "我的"
    differs = cli.json("policy", "diff", str(path), "adaptive")["differs"]
    assert differs == {
        "name": ["我的", "adaptive"],
        "budget.records": [12, 5000],
        "budget.low": [1.0, 0.95],
    }
    assert cli("policy", "diff", str(path)).stderr.endswith("No difference.\n")


def test_a_wrong_policy_is_named(cli: Any, tmp_path: Path) -> None:
    cli("init")
    missing = cli("policy", "set", "magic")
    assert missing.exit_code != 0
    assert "neither a file nor one of adaptive" in missing.stderr
    path = tmp_path / "bad.toml"
    path.write_text("treshold = 0.1", "utf-8")
    assert "bad.toml: treshold: unknown" in cli("policy", "show", str(path)).stderr
    assert cli("policy", "set").exit_code != 0


def test_a_plan_waits_is_changed_and_let_through(cli: Any, tmp_path: Path) -> None:
    cli("init")
    path = tmp_path / "asking.toml"
    path.write_text('approval = "always"\nlowest = 2\n', "utf-8")
    cli("policy", "set", str(path))
    ids = [cli.remember(f"Sensor {n} hangs in bay {n}.") for n in range(4)]
    plan = cli.json("plan")
    (waiting,) = cli.json("pending")["plans"]
    assert (waiting["plan_id"], waiting["state"]) == (plan["plan_id"], "pending")
    assert "waits for approval" in cli("forget", plan["plan_id"]).stderr
    taken = plan["steps"][0]["record_id"]
    assert taken in ids
    assert taken in cli.json("keep", plan["plan_id"], taken, "--pin")["kept"]
    assert cli.json("approve", plan["plan_id"])["state"] == "approved"
    assert cli.json("forget", plan["plan_id"])["demoted"] == 1
    assert cli("pending").stderr == "Nothing waits.\n"
    other = cli.json("plan")["plan_id"]
    assert cli.json("reject", other)["state"] == "rejected"


def test_maintain_says_what_was_done(cli: Any, tmp_path: Path) -> None:
    cli("init")
    path = tmp_path / "small.toml"
    path.write_text("[budget]\nrecords = 1\n[triggers]\nover_budget = false\n", "utf-8")
    cli("policy", "set", str(path))
    for n in range(3):
        cli.remember(f"Sensor {n} hangs in bay {n}.")
    done = cli.json("maintain")
    assert (done["receipt"]["demoted"], done["plan"]["steps"]["demote"]) == (2, 2)
    assert cli("maintain").stdout == "Nothing to forget.\n"


def test_a_hold_says_who_and_why(cli: Any) -> None:
    one = cli.remember("Contract 12 was signed by Mira.")
    cli("hold", one, "--owner", "legal", "--reason", "case 7", "--until", "2099-01-01")
    (record,) = cli.json("ls")["records"]
    assert (record["hold"]["owner"], record["hold"]["until"][:10]) == ("legal", "2099-01-01")
    assert "over already" in cli("hold", one, "--until", "2001-01-01").stderr


# ── simulate ─────────────────────────────────────────────────────────────────────────────────────

STRICT = """
base = "classic"
threshold = 1.0
threshold_action = "delete"
through_cold = false
max_share = 1.0
[triggers]
interval = "1d"
"""


def test_simulate_shows_what_would_be_lost_and_was_wanted(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "strict.toml"
    path.write_text(STRICT, "utf-8")
    days = ("--created-at", "2026-01-01T09:00:00Z", "--importance", "0.1")
    ferry = cli.remember("渡轮九点开。", *days)
    cli.remember("My card is 4111 1111 1111 1111.", *days)
    cli("recall", "渡轮九点开", "-k", "1")
    found = cli.json("policy", "simulate", str(path))
    first, second = found["losses"]
    assert (first["record_id"], first["wanted"], found["regretted"]) == (ferry, {"shown": 1}, 1)
    assert first["at"] == "2026-01-02T09:00:00Z"
    assert second["preview"] == "(sensitive: card ****1111)"
    assert found["standings"][-1]["lost"] == found["records"] == 2
    shown = cli("policy", "simulate", str(path), "--limit", "1")
    assert "渡轮九点开。" in shown.stdout
    assert "2, 1 of them wanted later" in shown.stdout
    assert shown.stderr == "1 more losses; --limit 0 shows all.\n"
    assert "4111 1111" in cli("policy", "simulate", str(path), "--reveal").stdout
    assert len(cli.ids()) == 2
    assert cli.json("policy", "simulate")["losses"] == []


def test_simulate_refuses_what_is_no_policy_and_no_step(cli: Any) -> None:
    cli("init")
    assert cli.error("policy", "simulate", "magic")[1]["message"].startswith("policy: 'magic'")
    code, error = cli.error("policy", "simulate", "classic", "--every", "soon")
    assert (code, error["message"][:6]) == (2, "every:")
