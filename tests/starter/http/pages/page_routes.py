"""The requests of `page_routes.yaml`: a route of the page without one there fails the tests."""

from dataclasses import dataclass, field

from tests.starter.case_files import read_cases


@dataclass(frozen=True, kw_only=True)
class PageCase:
    """A request about agent ada."""

    action: str | None  # None: no key is needed, or any key is enough
    form: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    of_job: bool = False
    of_tenant: bool = False


CASES = {name: PageCase(**fields) for name, fields in read_cases(__file__, "page_routes").items()}
