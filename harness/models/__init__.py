"""The models of a run: what is packaged, how it is prepared, and the profiles that name it."""

from harness.models.listing import models_list, models_prepare
from harness.models.packaged import PACKAGED, PackagedModel
from harness.models.prepared import PreparedModel, list_models, prepare
from harness.models.profile import load_profile
from harness.models.spec import EncoderSpec, JudgeSpec, Limits, ModelSpec, Profile

__all__ = [
    "PACKAGED",
    "EncoderSpec",
    "JudgeSpec",
    "Limits",
    "ModelSpec",
    "PackagedModel",
    "PreparedModel",
    "Profile",
    "list_models",
    "load_profile",
    "models_list",
    "models_prepare",
    "prepare",
]
