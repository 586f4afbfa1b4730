#!/usr/bin/env python3
"""Every screen and state in light colours looks as in Pictures/. `pictures.py make` makes them anew:
look at them before they are committed."""

import unittest

import pictures


class Pictures(unittest.TestCase):
    def test_screens_look_as_they_did(self):
        places = [place for place in pictures.pictures_of([]) if place[1][1] == "light"]
        self.assertGreaterEqual(len(places), 40)
        self.assertEqual(pictures.different(places), [])


if __name__ == "__main__":
    unittest.main()
