"""What is said where the package of a framework is lacking."""


def lacking(extra: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The error of an import, which names the extra to install."""
    why = f"{error.msg}; install mnestic[{extra}]"
    return ModuleNotFoundError(why, name=error.name)
