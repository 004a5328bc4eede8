"""What was used recently, up to a number of bytes.

It stands alone since it knows nothing of what it holds.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from typing import Generic, TypeVar

Group = TypeVar("Group")
Key = TypeVar("Key")
Value = TypeVar("Value")
LARGEST = 0.1  # share of all that one value may take


class Recent(Generic[Group, Key, Value]):
    """Values in groups, up to a number of bytes in all.

    Of the group that was asked for longest ago those that were used longest ago make place. Which these are is
    noted once half of the bytes are taken: until then it takes time for nothing.
    """

    def __init__(self, max_bytes: int, *, largest: float = LARGEST) -> None:
        self._max_bytes, self.bytes = max_bytes, 0
        self.largest = int(largest * max_bytes)
        self._groups: OrderedDict[Group, OrderedDict[Key, tuple[Value, int]]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._groups.values()))

    @property
    def is_empty(self) -> bool:
        """Whether it holds nothing."""
        return not self._groups

    @property
    def place(self) -> int:
        """How many bytes there are without others making place."""
        return self._max_bytes - self.bytes

    def get(self, group: Group, key: Key) -> Value | None:
        """One value, if it is there."""
        return self.get_all(group, (key,)).get(key)

    def get_all(self, group: Group, keys: Iterable[Key]) -> dict[Key, Value]:
        """Those that are there."""
        if (values := self._groups.get(group)) is None:
            return {}
        self._groups.move_to_end(group)
        get = values.get
        found = {key: held[0] for key in keys if (held := get(key)) is not None}
        if self.bytes > self._max_bytes // 2:
            for key in found:
                values.move_to_end(key)
        return found

    def __iter__(self) -> Iterator[Value]:
        return (value for group in self._groups for value in self.values(group))

    def has(self, group: Group, key: Key) -> bool:
        """Whether a value is there; it does not count as a use."""
        return key in self._groups.get(group, {})

    def size(self, group: Group, key: Key) -> int:
        """How many bytes a value was said to have; 0 where it is not there."""
        return self._groups[group][key][1] if self.has(group, key) else 0

    def number(self, group: Group) -> int:
        """How many values a group has."""
        return len(self._groups.get(group, {}))

    def values(self, group: Group) -> Collection[Value]:
        """All values of a group; they do not count as used."""
        return [value for value, _ in self._groups.get(group, {}).values()]

    def put(self, group: Group, key: Key, value: Value, *, size: int) -> None:
        """Takes a value of so many bytes in, in the place of the one that it has, unless it is too large."""
        self.drop(group, key)
        if size > self.largest:
            return
        self._groups.setdefault(group, OrderedDict())[key] = (value, size)
        self._groups.move_to_end(group)
        self.bytes += size
        while self.bytes > self._max_bytes:
            oldest = next(iter(self._groups))
            self.drop(oldest, next(iter(self._groups[oldest])))

    def drop(self, group: Group, key: Key) -> None:
        """Forgets a value."""
        values = self._groups.get(group)
        if values is None or key not in values:
            return
        self.bytes -= values.pop(key)[1]
        if not values:
            del self._groups[group]

    def drop_all(self, group: Group) -> None:
        """Forgets a group."""
        if (values := self._groups.pop(group, None)) is not None:
            self.bytes -= sum(size for _, size in values.values())
