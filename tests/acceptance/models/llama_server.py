"""A real model behind llama.cpp's OpenAI-compatible server; prints its address once it answers.

A program of its own, since llama.cpp and the model are in the environment `.venv/models` alone. The model is small and
was not taught to follow instructions, so that a chat template shows it an example of each kind of answer.
"""

import sys
import threading
from pathlib import Path

import xllamacpp

NAME = "gemma"
CONTEXT_TOKENS = 2048
TEMPLATE = Path(__file__).with_name("chat_template.jinja")


def serve(model: str, api_key: str, *stops: str) -> xllamacpp.Server:
    """Starts a server on a free port; where a model says one of `stops`, its answer ends."""
    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = model, {NAME}
    params.chat_template = TEMPLATE.read_text(encoding="utf-8")
    params.api_keys = [api_key]
    params.antiprompt = list(stops)
    # Two at a time, so that a text to embed does not push the instruction of extraction out of the cache.
    params.n_ctx, params.n_parallel = 2 * CONTEXT_TOKENS, 2
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.sampling.temp = 0  # the same answer each time
    # Threads that wait for each other are slow where others use the machine.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    return xllamacpp.Server(params)


if __name__ == "__main__":
    server = serve(*sys.argv[1:])
    print(server.listening_address, flush=True)  # noqa: T201 - whoever started it reads this
    threading.Event().wait()
