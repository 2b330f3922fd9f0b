import { type BufferGeometry, Vector3 } from 'three';
import { armFrame, armWeights, torsoWeights } from './geometry.js';
import { ellipsoid, type Ring, ShellBuilder, type Weights } from './ShellBuilder.js';

const WHITE = 0xffffff;
const onHead = (): Weights => ({ Head: 1 });
const smooth = (x: number, from: number, to: number) => {
  const t = Math.min(1, Math.max(0, (x - from) / (to - from)));
  return t * t * (3 - 2 * t);
};

/** Below the waist each leg takes its half along, the more the lower. */
function skirtWeights({ x, y }: Vector3): Weights {
  const low = 0.75 * (1 - smooth(y, 0.5, 0.92));
  const left = smooth(x, -0.13, 0.13);
  return { Hips: 1 - low, LeftUpperLeg: low * left, RightUpperLeg: low * (1 - left) };
}

const ball = (
  at: [x: number, y: number, z: number],
  [side, height, up]: [number, number, number],
  rings = 7,
) => ({
  color: WHITE,
  segments: 14,
  origin: new Vector3(...at),
  rings: ellipsoid(0, height, side, up, rings),
  caps: [0.004, 0.004] as [number, number],
  weights: onHead,
});

const ring = (at: number, side: number, up: number, upOffset = 0): Ring => ({ at, side, up, upOffset });

/** What a figure may wear over its body, in white, for instances to colour. */
const CLOTHES: Readonly<Record<string, (builder: ShellBuilder) => void>> = {
  Sleeves: (builder) => {
    for (const side of ['Left', 'Right'] as const) {
      const weights = armWeights(side);
      const rings = [ring(-0.02, 0.064, 0.072), ring(0.04, 0.068, 0.072), ring(0.11, 0.063, 0.065)];
      rings.push(ring(0.16, 0.061, 0.063), ring(0.2, 0.054, 0.056), ring(0.26, 0.049, 0.051));
      rings.push(ring(0.31, 0.047, 0.05), ring(0.4, 0.042, 0.044), ring(0.47, 0.038, 0.041));
      const shell = { ...armFrame(side), color: WHITE, segments: 12, rings };
      builder.add({ ...shell, weights: (_, along) => weights(along) });
    }
  },
  Jacket: (builder) => {
    const rings = [ring(0.86, 0.18, 0.138), ring(0.95, 0.174, 0.133), ring(1.08, 0.16, 0.122)];
    rings.push(
      ring(1.18, 0.17, 0.128, 0.004),
      ring(1.28, 0.182, 0.134, 0.006),
      ring(1.36, 0.182, 0.122, 0.002),
    );
    rings.push(ring(1.415, 0.15, 0.104, -0.004), ring(1.45, 0.098, 0.086, -0.008));
    builder.add({ color: WHITE, segments: 18, squareness: 2.3, rings, weights: torsoWeights });
  },
  Skirt: (builder) => {
    const rings = [ring(0.56, 0.25, 0.23), ring(0.66, 0.23, 0.2), ring(0.78, 0.205, 0.165)];
    rings.push(ring(0.9, 0.178, 0.134), ring(1.0, 0.152, 0.114), ring(1.06, 0.147, 0.109));
    builder.add({ color: WHITE, segments: 20, rings, weights: skirtWeights });
  },
  Scarf: (builder) => {
    const rings = [ring(1.435, 0.07, 0.07), ring(1.45, 0.088, 0.09, 0.004), ring(1.485, 0.086, 0.09, 0.008)];
    rings.push(ring(1.51, 0.066, 0.07, 0.01));
    builder.add({ color: WHITE, segments: 14, rings, weights: () => ({ Neck: 0.6, Chest: 0.4 }) });
  },
  Hat: (builder) => {
    const brim = [ring(1.7, 0.1, 0.11), ring(1.704, 0.235, 0.245), ring(1.714, 0.235, 0.245)];
    const crown = [ring(1.7, 0.136, 0.146), ring(1.77, 0.128, 0.138), ring(1.815, 0.11, 0.118)];
    for (const rings of [[...brim, ring(1.718, 0.1, 0.11)], crown])
      builder.add({ color: WHITE, segments: 20, rings, caps: [0, 0.012], weights: onHead });
  },
  Helmet: (builder) => {
    const rings = [
      ring(1.64, 0.136, 0.15),
      ring(1.655, 0.146, 0.16),
      ring(1.67, 0.138, 0.15),
      ring(1.73, 0.132, 0.142),
    ];
    rings.push(ring(1.79, 0.1, 0.108), ring(1.825, 0.05, 0.054));
    const origin = new Vector3(0, 0, -0.008);
    builder.add({ color: WHITE, segments: 16, origin, rings, caps: [0, 0.03], weights: onHead });
  },
  Beanie: (builder) => {
    const rings = [ring(1.69, 0.13, 0.142), ring(1.7, 0.14, 0.152), ring(1.73, 0.139, 0.15)];
    rings.push(ring(1.77, 0.122, 0.132), ring(1.81, 0.085, 0.092));
    builder.add({
      color: WHITE,
      segments: 18,
      origin: new Vector3(0, 0, -0.008),
      rings,
      caps: [0, 0.02],
      weights: onHead,
    });
    builder.add(ball([0, 1.845, -0.008], [0.035, 0.032, 0.035], 5));
  },
  LongHair: (builder) => {
    const rings = [
      ring(1.4, 0.1, 0.028, -0.118),
      ring(1.46, 0.125, 0.046, -0.1),
      ring(1.54, 0.135, 0.07, -0.08),
    ];
    rings.push(ring(1.62, 0.134, 0.095, -0.052), ring(1.7, 0.124, 0.105, -0.036));
    builder.add({ color: WHITE, segments: 18, squareness: 2.4, rings, caps: [0.02, 0.02], weights: onHead });
  },
  Bun: (builder) => {
    builder.add(ball([0, 1.74, -0.145], [0.062, 0.06, 0.062]));
  },
  Beard: (builder) => {
    const rings = [
      ring(1.478, 0.04, 0.028, 0.075),
      ring(1.51, 0.074, 0.05, 0.066),
      ring(1.55, 0.09, 0.052, 0.062),
    ];
    rings.push(ring(1.566, 0.094, 0.04, 0.058));
    builder.add({ color: WHITE, segments: 14, rings, caps: [0.014, 0], weights: onHead });
  },
};

/** The geometry of each, by name. */
export function createClothes(detail: number): Map<string, BufferGeometry> {
  return new Map(
    Object.entries(CLOTHES).map(([name, sew]) => {
      const builder = new ShellBuilder(detail);
      sew(builder);
      return [name, builder.build()];
    }),
  );
}
