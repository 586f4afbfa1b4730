#!/usr/bin/env python3
"""That a picture with one candle elsewhere is not taken for the repository's."""

import unittest

import pictures

NAME, VARIANT = "detail-daily", (1024, "light", "zh")
SHIFT = """
const { chart } = candled.page.screen.panel;
const candle = chart.series.candle(12);
const higher = (text) => (Number(text) * 1.02).toFixed(3);
chart.put({ ...candle, open: higher(candle.open), high: higher(candle.high),
  low: higher(candle.low), close: higher(candle.close) });
"""


class Shift(unittest.TestCase):
    def test_one_candle_elsewhere_is_another_picture(self):
        screen = pictures.SCREENS[NAME]
        moved = pictures.chart_screen(*screen.steps, (SHIFT,))
        with pictures.comparing_player() as (driver, server):
            shares = [pictures.difference(
                driver, NAME, VARIANT, pictures.picture(driver, server, shown, VARIANT))
                      for shown in (screen, moved)]
        self.assertLessEqual(shares[0], pictures.TOLERANCE)
        self.assertGreater(shares[1], pictures.TOLERANCE)


if __name__ == "__main__":
    unittest.main()
