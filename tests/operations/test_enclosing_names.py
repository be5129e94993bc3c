"""Which name at the top level changes with a line of a file, in two languages."""

from __future__ import annotations

import pytest

from lspkit.operations.checks.word_dependents import enclosing_name

PYTHON = """\
Shop| @cached
Shop| class Shop(Base):
Shop|     def total(self) -> int:
Shop|         self.w = price()
-|         return price()
Shop|     def more(
Shop|         self,
Shop|         x: Item,
Shop|     ):
Shop|         y = price()
-|         check(price())
Shop|         return y
-|     def last(
Shop|         x: Item,
Shop|     ) -> int:
-|         return price()
basket| basket = Shop()
x| x: Item = 3
f| def f(a, b=Shop): return 1
-| from a import (
-|     b,
-| )
-| if price():
z|     z = price()
"""
TYPESCRIPT = """\
Shop| export class Shop extends Base {
Shop|   base: Item
Shop|   total(x: Item): number {
-|     return price()
-|   }
Shop|   more(
Shop|     x: Item,
Shop|   ) {
Shop|     const y = price()
-|     check(price())
Shop|     return { a: price(),
Shop|       b: price(),
-|     }
-|   }
-| }
basket| export const basket = new Shop()
pair| export function pair(x: Item) {
pair|   return price()
-| }
each| export const each = (x: Item): number => {
-|   return price()
-| }
Pair| export interface Pair<
Pair|   T = Item,
Pair| > {
Pair|   a: Item
-| }
Union| export type Union =
Union|   | Item
-| export {
-|   a,
-| } from './x'
"""


@pytest.mark.parametrize("text", [PYTHON, TYPESCRIPT])
def test_a_use_changes_the_declaration_that_hands_it_on(text: str) -> None:
    rows = [line.partition("| ") for line in text.splitlines()]
    lines = [line for _, _, line in rows]
    for number, (name, _, line) in enumerate(rows):
        if name != "-":
            assert enclosing_name(lines, number, "", inferred=True) == name, line
        elif "price()" in line or line.startswith(("from", "export {")):
            assert enclosing_name(lines, number, "", inferred=True) == "", line


def test_another_name_for_it_changes_with_it() -> None:
    lines = ["from a import f as g"]
    assert enclosing_name(lines, 0, " as g", inferred=True) == "g"


def test_where_results_are_declared_a_body_hands_nothing_on() -> None:
    lines = ["func Total(x int) int {", "\treturn price(x)", "}"]
    assert enclosing_name(lines, 1, "(x)", inferred=False) == ""
    assert enclosing_name(lines, 0, ")", inferred=False) == "Total"
