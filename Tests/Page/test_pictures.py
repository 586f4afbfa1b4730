#!/usr/bin/env python3
"""That pictures are the same when nothing changed, and are not when one candle is elsewhere."""

import unittest

import pictures

VARIANT = (1024, "light", "en")
SHIFT = """
const { chart } = candled.page.screen.panel;
const candle = chart.series.candle(12);
const higher = (text) => (Number(text) * 1.02).toFixed(3);
chart.put({ ...candle, open: higher(candle.open), high: higher(candle.high),
  low: higher(candle.low), close: higher(candle.close) });
"""


class Pictures(unittest.TestCase):
    def test_one_candle_elsewhere_is_another_picture(self):
        screen = pictures.SCREENS["detail-daily"]
        moved = pictures.chart_screen(*screen.steps, (SHIFT,))
        with pictures.player() as (driver, server):
            first = pictures.picture(driver, server, screen, VARIANT)
            again = pictures.picture(driver, server, screen, VARIANT)
            shifted = pictures.picture(driver, server, moved, VARIANT)
            self.assertLessEqual(pictures.difference(driver, first, again), pictures.TOLERANCE)
            self.assertGreater(pictures.difference(driver, first, shifted), pictures.TOLERANCE)


if __name__ == "__main__":
    unittest.main()
