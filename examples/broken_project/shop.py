"""A small shop, with mistakes that a type checker finds."""

from dataclasses import dataclass

from prices import price_of


@dataclass
class Basket:
    items: list[str]

    def total(self) -> int:
        return sum(price_of(item) for item in self.items)

    def add(self, item: str, count: int = 1) -> None:
        self.items.extend([item] * count)


def receipt(basket: Basket) -> str:
    lines = [f"{item:<20}{price_of(item):>8}" for item in basket.items]
    lines.append(basket.total())
    return "\n".join(lines)


basket = Basket(items=[])
basket.add("tea", "two")
print(receipt(basket))
