"""Pictures as pixels. The browser reads them, for Python has nothing of its own that does."""

import base64
import struct
import zlib

# In a channel of 0…255: what counts as the same colour. Pictures are kept in 256 colours, none of
# which is farther than this from what was there.
NEAR = 8

READ = """
const read = async (data) => {
  // Not as an image with an address, which the page's policy forbids.
  const image = await createImageBitmap(
    new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))]));
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, image.width, image.height);
};
const distance = (one, other) => Math.max(Math.abs((one & 255) - (other & 255)),
  Math.abs((one >> 8 & 255) - (other >> 8 & 255)), Math.abs((one >> 16 & 255) - (other >> 16 & 255)));
"""

DIFFERENCE = READ + """
const [one, other, near, done] = arguments;
Promise.all([read(one), read(other)]).then(([first, second]) => {
  if (first.width !== second.width || first.height !== second.height) return done(1);
  const left = new Uint32Array(first.data.buffer);
  const right = new Uint32Array(second.data.buffer);
  let count = 0;
  for (let place = 0; place < left.length; place += 1) {
    if (left[place] !== right[place] && distance(left[place], right[place]) > near) count += 1;
  }
  return done(count / left.length);
}, () => done(1));
"""

# The most frequent colours that are not near each other, and which of them each pixel has.
PALETTE = READ + """
const [data, done] = arguments;
const chosen = (colours, spacing) => {
  const palette = [];
  for (const colour of colours) {
    if (palette.some((other) => distance(colour, other) <= spacing)) continue;
    palette.push(colour);
    if (palette.length > 256) return null;
  }
  return palette;
};
read(data).then((image) => {
  const words = new Uint32Array(image.data.buffer);
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const colours = [...counts.keys()].sort((one, other) => counts.get(other) - counts.get(one));
  let palette = null;
  let spacing = -1;
  while (!palette) palette = chosen(colours, spacing += 1);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  for (const colour of colours) {
    if (places.has(colour)) continue;
    const spaces = palette.map((other) => distance(colour, other));
    places.set(colour, spaces.indexOf(Math.min(...spaces)));
  }
  let text = "";
  for (const word of words) text += String.fromCharCode(places.get(word));
  done({ width: image.width, height: image.height, palette, spacing, places: btoa(text) });
}).catch((error) => done({ error: String(error) }));
"""


def encoded(data):
    return base64.b64encode(data).decode()


def difference(driver, one, other):
    """The share of pixels that have another colour."""
    return driver.execute_async_script(DIFFERENCE, encoded(one), encoded(other), NEAR)


def packed(driver, data):
    """The picture in 256 colours, a quarter of the size."""
    found = driver.execute_async_script(PALETTE, encoded(data))
    if "error" in found:
        raise ValueError(found["error"])
    if found["spacing"] > NEAR:
        raise ValueError(f"256 colours are too few: {found['spacing']} apart")
    width, height = found["width"], found["height"]
    places = base64.b64decode(found["places"])
    # In front of each row: no filter.
    rows = b"".join(b"\0" + places[width * row:width * (row + 1)] for row in range(height))
    colours = b"".join(struct.pack("<I", colour)[:3] for colour in found["palette"])
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in [(b"IHDR", header), (b"PLTE", colours),
                           (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")])
