"""How a workflow takes what it is sent: its input, signals, updates and queries, as raw values.

The SDK hands over whatever was sent, and a handler that fails on it fails its workflow task, again and again: nothing
moves the workflow any more, not even a cancellation. So what does not fit is refused here: a signal leaves the workflow
alone, an update is rejected, a query fails, and a workflow that was started with it fails once.
"""

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

_NULL = "binary/null"
_INPUT = "_input_of_run"
# With one parameter of this type the SDK decodes nothing of the one value that it was sent. Other numbers
# of values it hands over decoded, or refuses by itself where they cannot be (`payloads.py`).
_RAW = inspect.Parameter("given", inspect.Parameter.POSITIONAL_ONLY, annotation=RawValue)

Workflow = TypeVar("Workflow", bound=type)


def take_signal(
    name: str,
    handle: Callable[..., Awaitable[None] | None],
    *,
    takes: type[BaseModel] | None = None,
    refuse: Callable[[str], None],
) -> None:
    """Handles a signal from now on.

    Args:
        name: The signal's name.
        handle: Called with the argument, or with nothing for a signal that takes none.
        takes: Type of the argument.
        refuse: Called with what is wrong about a signal that does not fit.
    """

    async def take(*given: RawValue) -> None:
        try:
            arguments = _read(given, takes, what=f"signal {name}")
        except ApplicationError as error:
            refuse(error.message)
            return
        handled = handle(*arguments)
        if inspect.isawaitable(handled):
            await handled

    workflow.set_signal_handler(name, _raw(take))


def take_update(
    name: str,
    handle: Callable[..., Awaitable[Any]],
    *,
    takes: type[BaseModel],
    validate: Callable[..., None],
) -> None:
    """Handles an update from now on; one that does not fit is rejected as by `validate`."""

    def check(*given: RawValue) -> None:
        validate(*_read(given, takes, what=f"update {name}"))

    async def take(*given: RawValue) -> Any:
        return await handle(*_read(given, takes, what=f"update {name}"))

    workflow.set_update_handler(name, _raw(take), validator=_raw(check))


def answer_query(name: str, answer: Callable[[], Any]) -> None:
    """Answers a query, which takes no argument, from now on."""

    def take(*given: RawValue) -> Any:
        _read(given, None, what=f"query {name}")
        return answer()

    workflow.set_query_handler(name, _raw(take))


def takes_input(takes: type[BaseModel]) -> Callable[[Workflow], Workflow]:
    """Of a workflow class, below `workflow.defn`: its `run`, and its `workflow.init`, take such an input."""

    def wrap(cls: Any) -> Any:
        what, run, init = f"workflow {cls.__name__}", cls.run, vars(cls).get("__init__")

        @functools.wraps(run)
        async def run_with(self: Any, *given: RawValue) -> Any:
            arguments = vars(self).pop(_INPUT, None) or _read(given, takes, what=what)
            return await run(self, *arguments)

        cls.run = _raw(run_with, of_class=True)
        if init is not None:

            @functools.wraps(init)
            def init_with(self: Any, *given: RawValue) -> None:
                try:
                    arguments = _read(given, takes, what=what)
                except ApplicationError:
                    return  # `run` raises it anew: only there the SDK fails a workflow cleanly
                vars(self)[_INPUT] = arguments  # it may be large, and is read once
                init(self, *arguments)

            cls.__init__ = _raw(init_with, of_class=True)
        return cls

    return wrap


def _raw(handle: Callable[..., Any], *, of_class: bool = False) -> Callable[..., Any]:
    """The handler, with the one parameter by which the SDK leaves the value to it."""
    this = (inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY),) if of_class else ()
    returns = handle.__annotations__.get("return", inspect.Signature.empty)
    shown: Any = handle
    shown.__signature__ = inspect.Signature((*this, _RAW), return_annotation=returns)
    shown.__annotations__ = {"given": RawValue, "return": returns}
    return handle


def _read(
    given: tuple[RawValue, ...], takes: type[BaseModel] | None, *, what: str
) -> tuple[BaseModel, ...]:
    """The arguments of a handler.

    Raises:
        ApplicationError: they are not what it takes; says why, and quotes nothing of them.
    """
    if takes is None:
        if not given or (len(given) == 1 and _encoding(given[0]) == _NULL):  # as Go sends nothing
            return ()
        raise _misfit(what, "takes no argument")
    if len(given) != 1:
        raise _misfit(what, f"takes one argument, a {takes.__name__}, and was sent {len(given)}")
    try:
        value = workflow.payload_converter().from_payload(given[0].payload, takes)
    except ValidationError as error:
        first = error.errors(include_input=False, include_context=False, include_url=False)[0]
        where = "".join(f"{part}: " for part in (".".join(map(str, first["loc"])),) if part)
        raise _misfit(what, f"takes a {takes.__name__}: {where}{first['msg']}") from None
    except Exception:  # noqa: BLE001 - whatever a converter raises of what anybody may send
        raise _unread(what, takes, given[0]) from None
    if not isinstance(value, takes):
        raise _unread(what, takes, given[0])
    return (value,)


def _unread(what: str, takes: type[BaseModel], given: RawValue) -> ApplicationError:
    why = f"takes a {takes.__name__} as JSON; what was sent has the encoding {_encoding(given)}"
    return _misfit(what, why)


def _misfit(what: str, why: str) -> ApplicationError:
    return ApplicationError(f"{what} {why}", type="InvalidInputError", non_retryable=True)


def _encoding(given: RawValue) -> str:
    return given.payload.metadata.get("encoding", b"none").decode(errors="replace")[:50]
