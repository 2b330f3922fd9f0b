import type { InstanceUniforms } from 'skinned-instanced-mesh';
import { Color } from 'three';

const FLASH = /*@__PURE__*/ new Color(2.2, 0.25, 0.1);
const FLASH_SECONDS = 0.5;
const FADE_SECONDS = 1.5;

const _color = /*@__PURE__*/ new Color();

/** What passes: characters that were hit flash, and those that are sent away fade. */
export class Moods {
  /** For each that flashes, the seconds that are left. */
  private readonly flashing = new Map<number, number>();
  /** For each that fades or comes back, to which opacity. */
  private readonly fading = new Map<number, number>();

  constructor(private readonly uniforms: InstanceUniforms) {}

  hit(index: number): void {
    this.flashing.set(index, FLASH_SECONDS);
  }

  /** Whether a character is there, or on its way back. */
  isThere(index: number): boolean {
    return (this.fading.get(index) ?? this.uniforms.getAt(index, 'opacity')) > 0;
  }

  fade(index: number, there: boolean): void {
    this.fading.set(index, there ? 1 : 0);
  }

  update(delta: number): void {
    const { uniforms, flashing, fading } = this;
    for (const [index, left] of flashing) {
      const next = Math.max(0, left - delta);
      uniforms.setAt(index, 'emissive', _color.copy(FLASH).multiplyScalar((next / FLASH_SECONDS) ** 2));
      if (next === 0) flashing.delete(index);
      else flashing.set(index, next);
    }
    for (const [index, target] of fading) {
      const opacity = uniforms.getAt(index, 'opacity');
      const step = delta / FADE_SECONDS;
      const next = opacity < target ? Math.min(target, opacity + step) : Math.max(target, opacity - step);
      uniforms.setAt(index, 'opacity', next);
      if (next === target) fading.delete(index);
    }
  }
}
