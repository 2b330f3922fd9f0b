import { deflateSync } from 'node:zlib';

const SIZE = 256;

/** How much brighter differences are shown than they are. */
const BRIGHTER = 8;

/**
 * A PNG of pictures side by side: a row of pictures, and below each what differs from the first of its row.
 *
 * @param {(Uint8Array | undefined)[][]} rows RGBA bytes of 256 × 256 pixels, lowest row first.
 */
export function sheet(rows) {
  const width = SIZE * Math.max(...rows.map((row) => row.length));
  const height = SIZE * 2 * rows.length;
  const rgb = Buffer.alloc(width * height * 3);
  rows.forEach((row, y) => {
    row.forEach((picture, x) => {
      if (picture === undefined) return;
      const [first] = row;
      paint(rgb, width, x, 2 * y, (at) => picture[at]);
      paint(rgb, width, x, 2 * y + 1, (at) => Math.abs(picture[at] - first[at]) * BRIGHTER);
    });
  });
  return png(width, height, rgb);
}

/** Paints one field of the sheet; `byteAt` gets the place of a byte of a picture. */
function paint(rgb, width, column, row, byteAt) {
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      const to = ((row * SIZE + y) * width + column * SIZE + x) * 3;
      const from = ((SIZE - 1 - y) * SIZE + x) * 4;
      for (let k = 0; k < 3; k++) rgb[to + k] = Math.min(255, byteAt(from + k));
    }
  }
}

function png(width, height, rgb) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // eight bits a channel, red, green and blue
  header.set([8, 2, 0, 0, 0], 8);
  // Each line begins with how it is filtered: not at all.
  const lines = Buffer.alloc(height * (width * 3 + 1));
  for (let y = 0; y < height; y++)
    rgb.copy(lines, y * (width * 3 + 1) + 1, y * width * 3, (y + 1) * width * 3);
  const chunks = [chunk('IHDR', header), chunk('IDAT', deflateSync(lines)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), ...chunks]);
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(checksum(body), body.length + 4);
  return out;
}

/** The check sum that PNG asks for (CRC-32). Node has one of its own only from 20.15 on. */
function checksum(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (0xedb88320 & -(sum & 1));
  }
  return ~sum >>> 0;
}
