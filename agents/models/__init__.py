"""Language models small enough to read, and the doors to their directories."""

from workgym.agents.models.layout import load_model, open_model, save_model
from workgym.agents.models.llama import Attend, KeysValues, Llama, LlamaConfig

__all__ = ["Attend", "KeysValues", "Llama", "LlamaConfig", "load_model", "open_model", "save_model"]
