import { CanvasTexture } from 'three';

/** Stripes with holes, as an image. */
export function stripes(): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const context = canvas.getContext('2d')!;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, 64, 64);
  context.fillStyle = '#000';
  for (let y = 0; y < 64; y += 8) context.fillRect(0, y, 64, 3);
  return new CanvasTexture(canvas);
}

/** Waves, as a normal map or heights. */
export function bumps(): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const context = canvas.getContext('2d')!;
  for (let i = 0; i < 64; i++) {
    context.fillStyle = `rgb(${128 + 90 * Math.sin(i / 3)}, ${128 + 60 * Math.cos(i / 5)}, 230)`;
    context.fillRect(i, 0, 1, 64);
  }
  return new CanvasTexture(canvas);
}
