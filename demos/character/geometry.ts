import { type BufferGeometry, MathUtils, Vector3 } from 'three';
import { chain, ellipsoid, ShellBuilder, type Weights } from './ShellBuilder.js';
import { REST_ARM_ANGLE, type Side } from './skeleton.js';

/** Hex colours (sRGB) of the figure's parts. */
export interface Palette {
  skin: number;
  hair: number;
  eyes: number;
  mouth: number;
  shirt: number;
  trousers: number;
  shoes: number;
  soles: number;
}

export const DEFAULT_PALETTE: Readonly<Palette> = Object.freeze({
  skin: 0xe8b48e,
  hair: 0x4a3125,
  eyes: 0x1d1a1c,
  mouth: 0x9c4a40,
  shirt: 0xf2efe6,
  trousers: 0x3c4a66,
  shoes: 0xc9553d,
  soles: 0xf4f1ea,
});

const SIDES = ['Left', 'Right'] as const;
const smooth = MathUtils.smoothstep;
const onHead = (): Weights => ({ Head: 1 });

/**
 * The figure's body in rest pose: standing on y = 0, facing +z, arms half lowered.
 *
 * @param detail Share of its corners that are built.
 * @param colors Only what has these colours; all by default.
 */
export function createBodyGeometry(
  palette: Palette,
  detail = 1,
  colors: readonly number[] = Object.values(palette),
): BufferGeometry {
  const builder = new ShellBuilder(detail, colors);
  addTorso(builder, palette);
  addHead(builder, palette);
  for (const side of SIDES) {
    addArm(builder, palette, side);
    addLeg(builder, palette, side);
    addShoe(builder, palette, side);
  }
  const geometry = builder.build();
  geometry.computeBoundingBox();
  geometry.computeBoundingSphere();
  return geometry;
}

const spine = chain(['Hips', 0, 0], ['Spine', 1.04, 0.07], ['Chest', 1.2, 0.07], ['Neck', 1.46, 0.03]);

/** Weights of what the torso wears. */
export function torsoWeights({ x, y }: Vector3): Weights {
  const weights = spine(y);
  const outward = smooth(Math.abs(x), 0.06, 0.17) * smooth(y, 1.24, 1.38);
  const side: Side = x > 0 ? 'Left' : 'Right';
  weights.Chest = (weights.Chest ?? 0) * (1 - 0.75 * outward);
  weights[`${side}Shoulder`] = 0.5 * outward;
  weights[`${side}UpperArm`] = 0.25 * outward;
  return weights;
}

function addTorso(builder: ShellBuilder, palette: Palette): void {
  builder.add({
    color: palette.shirt,
    segments: 18,
    squareness: 2.3,
    resample: 15,
    caps: [0, 0.012],
    rings: [
      { at: 0.895, side: 0.16, up: 0.118 },
      { at: 0.93, side: 0.157, up: 0.116 },
      { at: 1.0, side: 0.146, up: 0.108 },
      { at: 1.08, side: 0.142, up: 0.104 },
      { at: 1.18, side: 0.154, up: 0.112, upOffset: 0.004 },
      { at: 1.28, side: 0.168, up: 0.118, upOffset: 0.006 },
      { at: 1.36, side: 0.17, up: 0.108, upOffset: 0.002 },
      { at: 1.41, side: 0.142, up: 0.09, upOffset: -0.004 },
      { at: 1.44, side: 0.094, up: 0.074, upOffset: -0.008 },
      { at: 1.462, side: 0.062, up: 0.062, upOffset: -0.008 },
    ],
    weights: torsoWeights,
  });

  builder.add({
    color: palette.trousers,
    segments: 18,
    squareness: 2.3,
    resample: 8,
    caps: [0.012, 0],
    rings: [
      { at: 0.785, side: 0.05, up: 0.055, upOffset: -0.01 },
      { at: 0.81, side: 0.11, up: 0.085, upOffset: -0.008 },
      { at: 0.86, side: 0.146, up: 0.108, upOffset: -0.004 },
      { at: 0.91, side: 0.152, up: 0.112 },
      { at: 0.98, side: 0.14, up: 0.102 },
    ],
    weights: ({ x, y }) => {
      const low = 0.6 * smooth(-y, -0.9, -0.79);
      const left = smooth(x, -0.08, 0.08);
      return { Hips: 1 - low, LeftUpperLeg: low * left, RightUpperLeg: low * (1 - left) };
    },
  });
}

function addHead(builder: ShellBuilder, palette: Palette): void {
  const neck = chain(['Chest', 0, 0], ['Neck', 1.44, 0.03], ['Head', 1.515, 0.035]);
  builder.add({
    color: palette.skin,
    segments: 12,
    origin: new Vector3(0, 0, -0.008),
    rings: [
      { at: 1.42, side: 0.056, up: 0.056 },
      { at: 1.45, side: 0.052, up: 0.052 },
      { at: 1.48, side: 0.048, up: 0.05 },
      { at: 1.515, side: 0.048, up: 0.05, upOffset: 0.006 },
      { at: 1.55, side: 0.05, up: 0.05, upOffset: 0.01 },
    ],
    weights: ({ y }) => neck(y),
  });

  builder.add({
    color: palette.skin,
    segments: 18,
    squareness: 2.2,
    resample: 11,
    caps: [0.014, 0.024],
    rings: [
      { at: 1.503, side: 0.05, up: 0.048, upOffset: 0.034 },
      { at: 1.525, side: 0.078, up: 0.078, upOffset: 0.024 },
      { at: 1.565, side: 0.1, up: 0.106, upOffset: 0.01 },
      { at: 1.62, side: 0.113, up: 0.122 },
      { at: 1.68, side: 0.114, up: 0.124, upOffset: -0.003 },
      { at: 1.73, side: 0.098, up: 0.106, upOffset: -0.006 },
      { at: 1.765, side: 0.062, up: 0.068, upOffset: -0.008 },
    ],
    weights: onHead,
  });

  // A cap that leans back, so that its rim runs from the forehead to the nape.
  const lean = MathUtils.degToRad(38);
  builder.add({
    color: palette.hair,
    segments: 18,
    squareness: 2.15,
    caps: [0.006, 0],
    origin: new Vector3(0, 1.652, -0.006),
    axis: new Vector3(0, Math.cos(lean), -Math.sin(lean)),
    up: new Vector3(0, Math.sin(lean), Math.cos(lean)),
    rings: [{ at: -0.012, side: 0.123, up: 0.134 }, ...ellipsoid(0, 0.152, 0.126, 0.137, 13).slice(6)],
    weights: onHead,
  });

  for (const x of [-1, 1]) {
    const feature = (
      color: number,
      at: [number, number, number],
      size: [number, number, number],
      count = 4,
    ) =>
      builder.add({
        color,
        segments: 8,
        origin: new Vector3(at[0] * x, at[1], at[2]),
        rings: ellipsoid(0, size[1], size[0], size[2], count),
        caps: [size[1] * 0.05, size[1] * 0.05],
        weights: onHead,
      });
    feature(palette.eyes, [0.041, 1.637, 0.114], [0.0125, 0.019, 0.008]);
    feature(palette.hair, [0.043, 1.676, 0.116], [0.023, 0.005, 0.007], 3);
    feature(palette.skin, [0.115, 1.625, -0.004], [0.014, 0.032, 0.02]);
    if (x > 0) {
      feature(palette.skin, [0, 1.607, 0.122], [0.014, 0.017, 0.017]);
      feature(palette.mouth, [0, 1.562, 0.111], [0.026, 0.0055, 0.008], 3);
    }
  }
}

/** Where an arm begins and leads. */
export function armFrame(side: Side): { origin: Vector3; axis: Vector3; side: Vector3 } {
  const x = side === 'Left' ? 1 : -1;
  const drop = MathUtils.degToRad(REST_ARM_ANGLE);
  return {
    origin: new Vector3(0.175 * x, 1.38, 0),
    axis: new Vector3(Math.cos(drop) * x, -Math.sin(drop), 0),
    side: new Vector3(Math.sin(drop) * x, Math.cos(drop), 0),
  };
}

/** Weights along an arm. */
export const armWeights = (side: Side) =>
  chain([`${side}UpperArm`, 0, 0], [`${side}LowerArm`, 0.26, 0.045], [`${side}Hand`, 0.495, 0.025]);

function addArm(builder: ShellBuilder, palette: Palette, side: Side): void {
  const frame = armFrame(side);
  const sleeve = chain(['Chest', -1, 0], [`${side}Shoulder`, -0.05, 0.06], [`${side}UpperArm`, 0.005, 0.055]);
  builder.add({
    ...frame,
    color: palette.shirt,
    segments: 14,
    caps: [0.045, 0],
    rings: [
      { at: -0.02, side: 0.058, up: 0.066 },
      { at: 0.01, side: 0.064, up: 0.069 },
      { at: 0.04, side: 0.063, up: 0.067 },
      { at: 0.075, side: 0.06, up: 0.063 },
      { at: 0.11, side: 0.058, up: 0.06 },
      { at: 0.15, side: 0.058, up: 0.06 },
    ],
    weights: (_, along) => sleeve(along),
  });

  const arm = armWeights(side);
  builder.add({
    ...frame,
    color: palette.skin,
    segments: 11,
    caps: [0, 0.014],
    rings: [
      { at: 0.09, side: 0.046, up: 0.048 },
      { at: 0.16, side: 0.044, up: 0.046 },
      { at: 0.205, side: 0.041, up: 0.043 },
      { at: 0.235, side: 0.039, up: 0.041 },
      { at: 0.26, side: 0.038, up: 0.04 },
      { at: 0.285, side: 0.039, up: 0.041 },
      { at: 0.32, side: 0.039, up: 0.042 },
      { at: 0.39, side: 0.034, up: 0.036 },
      { at: 0.46, side: 0.026, up: 0.029 },
      { at: 0.49, side: 0.023, up: 0.028 },
      { at: 0.515, side: 0.024, up: 0.034 },
      { at: 0.545, side: 0.025, up: 0.043 },
      { at: 0.585, side: 0.023, up: 0.045 },
      { at: 0.625, side: 0.019, up: 0.04 },
      { at: 0.65, side: 0.015, up: 0.03 },
    ],
    weights: (_, along) => arm(along),
  });

  const thumbAxis = frame.axis
    .clone()
    .multiplyScalar(0.8)
    .add(new Vector3(0, 0, 0.6));
  builder.add({
    color: palette.skin,
    segments: 8,
    caps: [0, 0.013],
    origin: frame.origin
      .clone()
      .addScaledVector(frame.axis, 0.515)
      .add(new Vector3(0, 0, 0.02)),
    axis: thumbAxis,
    side: frame.side,
    up: new Vector3().crossVectors(thumbAxis, frame.side),
    rings: [
      { at: 0, side: 0.016, up: 0.016 },
      { at: 0.025, side: 0.0165, up: 0.0165 },
      { at: 0.05, side: 0.0145, up: 0.0145 },
    ],
    weights: () => ({ [`${side}Hand`]: 1 }),
  });
}

function addLeg(builder: ShellBuilder, palette: Palette, side: Side): void {
  const leg = chain(['Hips', -2, 0], [`${side}UpperLeg`, -0.89, 0.09], [`${side}LowerLeg`, -0.49, 0.06]);
  builder.add({
    color: palette.trousers,
    segments: 14,
    origin: new Vector3(side === 'Left' ? 0.084 : -0.084, 0, 0),
    rings: [
      { at: 0.085, side: 0.055, up: 0.06, upOffset: -0.006 },
      { at: 0.16, side: 0.055, up: 0.061, upOffset: -0.008 },
      { at: 0.26, side: 0.058, up: 0.064, upOffset: -0.01 },
      { at: 0.36, side: 0.06, up: 0.067, upOffset: -0.01 },
      { at: 0.42, side: 0.06, up: 0.066, upOffset: -0.004 },
      { at: 0.455, side: 0.061, up: 0.066, upOffset: 0.002 },
      { at: 0.49, side: 0.062, up: 0.067, upOffset: 0.004 },
      { at: 0.525, side: 0.064, up: 0.069, upOffset: 0.004 },
      { at: 0.57, side: 0.067, up: 0.073, upOffset: 0.002 },
      { at: 0.66, side: 0.073, up: 0.083 },
      { at: 0.76, side: 0.079, up: 0.094 },
      { at: 0.83, side: 0.079, up: 0.1 },
      { at: 0.89, side: 0.073, up: 0.1 },
      { at: 0.94, side: 0.062, up: 0.085 },
    ],
    weights: ({ y }) => leg(-y),
  });
}

function addShoe(builder: ShellBuilder, palette: Palette, side: Side): void {
  const shoe = chain([`${side}Foot`, -1, 0], [`${side}Toes`, 0.115, 0.03]);
  const frame = {
    origin: new Vector3(side === 'Left' ? 0.092 : -0.092, 0, 0),
    axis: new Vector3(0, 0, 1),
    up: new Vector3(0, 1, 0),
    segments: 12,
    weights: (_: Vector3, along: number) => shoe(along),
  };
  builder.add({
    ...frame,
    color: palette.shoes,
    squareness: 2.4,
    caps: [0.016, 0.03],
    rings: [
      { at: -0.07, side: 0.034, up: 0.042, upOffset: 0.058 },
      { at: -0.035, side: 0.043, up: 0.052, upOffset: 0.064 },
      { at: 0.02, side: 0.045, up: 0.049, upOffset: 0.061 },
      { at: 0.065, side: 0.047, up: 0.038, upOffset: 0.05 },
      { at: 0.1, side: 0.05, up: 0.031, upOffset: 0.043 },
      { at: 0.13, side: 0.05, up: 0.028, upOffset: 0.04 },
      { at: 0.16, side: 0.043, up: 0.024, upOffset: 0.036 },
    ],
  });
  builder.add({
    ...frame,
    color: palette.soles,
    squareness: 3,
    caps: [0.012, 0.03],
    rings: [
      { at: -0.075, side: 0.037, up: 0.013, upOffset: 0.013 },
      { at: -0.03, side: 0.046, up: 0.014, upOffset: 0.014 },
      { at: 0.06, side: 0.05, up: 0.014, upOffset: 0.014 },
      { at: 0.115, side: 0.054, up: 0.014, upOffset: 0.014 },
      { at: 0.165, side: 0.045, up: 0.013, upOffset: 0.013 },
    ],
  });
}
