"""Traces of workflows and activities, sent over OTLP; the endpoint is OpenTelemetry's own setting."""

from collections.abc import Callable

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.plugin import SimplePlugin


def tracing_plugin() -> tuple[SimplePlugin, Callable[[], None]]:
    """A plugin that traces, and the function that flushes traces before the process ends."""
    provider = TracerProvider(resource=Resource.create({"service.name": "mnestic"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    interceptor = TracingInterceptor(provider.get_tracer("mnestic"))
    return SimplePlugin("mnestic.tracing", interceptors=[interceptor]), provider.shutdown
