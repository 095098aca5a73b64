"""Estimate, admit, release: memory for the KV cache."""

from gateway.memory.device_probes import CudaProbe, VllmProbe, kv_cache_usage
from gateway.memory.estimate import KvShape, LayerGroup, kv_bytes, kv_peak_bytes
from gateway.memory.guard import Decision, Guard, Margin, Verdict
from gateway.memory.ledger import Ledger, Refusal, Reservation, Snapshot
from gateway.memory.probes import CgroupProbe, MemoryReading, Probe, ProcessProbe, is_stale

__all__ = [
    "CgroupProbe",
    "CudaProbe",
    "Decision",
    "Guard",
    "KvShape",
    "LayerGroup",
    "Ledger",
    "Margin",
    "MemoryReading",
    "Probe",
    "ProcessProbe",
    "Refusal",
    "Reservation",
    "Snapshot",
    "Verdict",
    "VllmProbe",
    "is_stale",
    "kv_bytes",
    "kv_cache_usage",
    "kv_peak_bytes",
]
