#!/usr/bin/env python3
"""What a form computes before it is sent is exact: against Python's decimals, on random ones."""

import decimal
import os
import random
import unittest

import browser

COUNT = 2_000
COMPUTE = """
const [pairs, done] = arguments;
import("/decimal.js").then(({ product, exceeds }) => done(
  pairs.map(([one, other]) => [product(one, other), exceeds(one, other)])));
"""


def random_decimal(chance):
    places = chance.randint(0, 9)
    units = chance.choice([0, 1, chance.randint(0, 10 ** chance.randint(1, 15) - 1)])
    text = str(units).zfill(places + 1)
    return f"{text[:-places]}.{text[-places:]}" if places else text


class Decimals(browser.PageTest):
    def test_products_and_comparisons_have_every_digit(self):
        seed = int(os.environ.get("CANDLED_SEED", random.SystemRandom().randint(1, 1 << 32)))
        chance = random.Random(seed)
        pairs = [[random_decimal(chance), random_decimal(chance)] for _ in range(COUNT)]
        pairs += [[text, text.rstrip("0") or "0"] for text, _ in pairs[:100] if "." in text]
        pairs = [pair for pair in pairs if not any(text.endswith(".") for text in pair)]
        self.open("settings")
        self.wait("return window.candled !== undefined")
        found = self.driver.execute_async_script(COMPUTE, pairs)
        with decimal.localcontext(prec=60):
            for (one, other), (product, exceeds) in zip(pairs, found):
                case = f"seed {seed}: {one} and {other}"
                left, right = decimal.Decimal(one), decimal.Decimal(other)
                self.assertEqual(decimal.Decimal(product), left * right, case)
                self.assertEqual(exceeds, left > right, case)

    def test_what_is_no_decimal_has_no_product(self):
        self.open("settings")
        self.wait("return window.candled !== undefined")
        pairs = [[text, "1"] for text in ("", "x", "1.", ".5", "1e3", "١", "1,000", None)]
        self.assertEqual(self.driver.execute_async_script(COMPUTE, pairs), [[None, False]] * 8)


if __name__ == "__main__":
    unittest.main()
