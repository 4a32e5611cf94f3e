"""export and import on the command line: nothing lost, nothing doubled, no half files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.faces.conftest import Cli


def lines_of(cli: Cli, *options: str) -> list[Any]:
    return [json.loads(line) for line in cli("export", *options).stdout.splitlines()]


def fill(cli: Cli) -> list[str]:
    ids = [
        cli.remember("The gate code is 4417.", "--key", "gate", "--tag", "door"),
        cli.remember("门禁密码是4417。", "--entity", "place:大门"),
        cli.remember("Beta is due on 4 May.", *claim("2026-05-04")),
        cli.remember("Beta is due on 9 May.", *claim("2026-05-09")),
    ]
    cli("pin", ids[0])
    cli.json("recall", "gate code")
    return ids


def claim(value: str) -> list[str]:
    return ["--subject", "beta", "--attribute", "due", "--value", value]


def test_a_file_goes_out_and_back_in_whole(cli: Cli, tmp_path: Path) -> None:
    ids = fill(cli)
    out = tmp_path / "out.jsonl"
    assert cli.json("export", str(out)) == {"file": str(out), "records": 4}
    copy = ["--db", str(tmp_path / "copy.db")]
    done = cli.json(*copy, "import", str(out))
    assert (done["added"], done["known"], done["embedded"]) == (4, 0, 3)
    again = cli.json(*copy, "import", str(out))
    assert (again["added"], again["known"], again["embedded"]) == (0, 4, 0)
    ours, theirs = lines_of(cli), lines_of(cli, *copy)
    assert [each["id"] for each in theirs] == sorted(ids)
    for one, other in zip(ours, theirs, strict=True):
        for record in (one, other):
            record.pop("embedding")  # vectors are made anew
        assert one == other
    assert cli.json(*copy, "doctor")["healthy"]
    assert [
        hit["record"]["id"] for hit in cli.json(*copy, "recall", "大门 密码", "-k", "1")["hits"]
    ] == [ids[1]]


def test_earlier_versions_come_along(cli: Cli, tmp_path: Path) -> None:
    import sfams

    with sfams.open(cli.db, embedder="hashing") as memory:
        record = memory.remember("It opens at nine.").id
        memory.update(record, content="It opens at ten.")
        memory.update(record, content="It opens at eleven.")
        past = memory.versions(record)
    copy = tmp_path / "copy.db"
    result = cli("--db", str(copy), "import", "-", given=cli("export").stdout)
    assert result.exit_code == 0
    with sfams.open(copy, embedder="hashing") as memory:
        assert list(memory.versions(record)) == list(past)
        assert memory.get(record).version == 3


def test_scopes_below_go_into_their_own_places(cli: Cli, tmp_path: Path) -> None:
    for scope in ("acme", "acme/alice", "acme/bob", "beta"):
        cli("--scope", scope, "remember", f"A note of {scope}.")
    out = tmp_path / "acme.jsonl"
    assert cli.json("--scope", "acme", "export", str(out), "--below")["records"] == 3
    copy = ["--db", str(tmp_path / "copy.db")]
    assert cli.json(*copy, "--scope", "acme", "import", str(out), "--keep-scopes")["added"] == 3
    for scope in ("acme", "acme/alice", "acme/bob"):
        (record,) = cli.json(*copy, "--scope", scope, "ls")["records"]
        assert record["content"] == f"A note of {scope}."
    refused = cli.json(*copy, "--scope", "acme/bob", "import", str(out), "--keep-scopes")
    assert [each["field"] for each in refused["refused"]] == ["scope", "scope"]
    assert cli.json(*copy, "--scope", "beta", "import", str(out))["added"] == 3


def test_a_line_that_cannot_be_taken_is_named_and_the_others_are_taken(cli: Cli) -> None:
    given = '{"text": "Good."}\nnonsense\n\n{"text": " "}\n{"text": "Fine.", "importance": 7}\n'
    done = cli.json("import", "-", given=given)
    assert (done["added"], [each["line"] for each in done["refused"]]) == (1, [2, 4, 5])
    shown = cli("import", "-", given="nonsense\n")
    assert shown.exit_code == 2
    assert "Refused 1" in shown.stdout


def test_an_erased_text_is_refused_until_it_is_let_in(cli: Cli) -> None:
    record = cli.remember("Her number is 555 0199.")
    text = cli("export").stdout
    cli.json("erase", record, "--yes")
    for given in (text, '{"text": "Her number is 555 0199."}'):
        refused = cli("import", "-", "--json", given=given)
        assert refused.exit_code == 2
        (line,) = json.loads(refused.stdout)["refused"]
        assert "erased here" in line["reason"]
    assert cli.ids() == []
    assert cli.json("import", "-", "--erased", given=text)["added"] == 1
    assert cli.ids() == [record]


def test_an_export_that_fails_leaves_the_old_file(cli: Cli, tmp_path: Path) -> None:
    fill(cli)
    code, error = cli.error("export", str(tmp_path / "absent" / "out.jsonl"))
    assert (code, "cannot be written" in error["message"]) == (2, True)
    out = tmp_path / "out.jsonl"
    out.mkdir()
    code, error = cli.error("export", str(out))
    assert code == 2
    assert sorted(each.name for each in tmp_path.iterdir() if "jsonl" in each.name) == ["out.jsonl"]


def test_bad_input_is_refused_by_name(cli: Cli, tmp_path: Path) -> None:
    assert cli.error("import", str(tmp_path / "absent.jsonl"))[0] == 2
    code, error = cli.error("import", "-", given=b'{"text": "\xff"}\n')
    assert (code, "UTF-8" in error["message"]) == (2, True)
    assert not cli.ids()


def test_filters_narrow_an_export(cli: Cli) -> None:
    fill(cli)
    assert len(lines_of(cli, "--tag", "door")) == 1
    assert len(lines_of(cli, "--status", "superseded")) == 1


def test_a_file_of_another_model_can_be_exported(cli: Cli) -> None:
    fill(cli)
    assert len(cli("--embedder", "none", "export").stdout.splitlines()) == 4
    assert len(cli("--embedder", "bundled", "export").stdout.splitlines()) == 4
