import { type BufferAttribute, type DataTexture, Quaternion, Vector3 } from 'three';
import type { Precision } from '../animation/BoneTextureData.js';
import { expandByClips } from '../animation/jointBoxes.js';
import { createPoseMix } from '../animation/mixPose.js';
import type { PosedCrowd, PoseSource } from '../animation/PoseSource.js';
import { PARAM_MORPH_TEXEL, PARAM_ROWS, PARAM_STRIDE } from '../constants.js';
import { type VertexTextureData, WORDS } from './VertexTextureData.js';

const _read = /*@__PURE__*/ new Vector3();

/** Reads vertices of frames: the CPU twin of `storedVertex` in the shaders. */
export class VertexReader {
  private readonly words: number;
  private readonly floats: Float32Array;

  constructor(private readonly data: VertexTextureData) {
    this.words = WORDS[data.precision];
    const { buffer, byteOffset, length } = data.texels;
    this.floats = new Float32Array(buffer, byteOffset, length);
  }

  /** Adds the position of a vertex in a frame, times a weight. */
  addPosition(frame: number, vertex: number, weight: number, target: Vector3): void {
    const { data, floats } = this;
    const at = this.placeOf(frame, vertex);
    if (data.precision === 'float') {
      target.addScaledVector(_read.fromArray(floats, at), weight);
      return;
    }
    const { texels, boxes, frames } = data;
    const box = frames[frame] * 6;
    const steps = [texels[at] & 0xffff, texels[at] >>> 16, texels[at + 1] & 0xffff];
    for (let i = 0; i < 3; i++) steps[i] = boxes[box + i] + boxes[box + 3 + i] * steps[i];
    target.addScaledVector(_read.fromArray(steps), weight);
  }

  /** The same of the normal; there must be some. */
  addNormal(frame: number, vertex: number, weight: number, target: Vector3): void {
    const { texels, precision } = this.data;
    const at = this.placeOf(frame, vertex);
    const packed = precision === 'float' ? texels[at + 3] : texels[at + 1] >>> 16;
    target.addScaledVector(unpackNormal(packed, precision, _read), weight);
  }

  private placeOf(frame: number, vertex: number): number {
    const { frames, vertices } = this.data;
    return (frames[frame] * vertices + vertex) * this.words;
  }
}

/**
 * Unit vectors as points of a square: those of an octahedron that is unfolded. See Cigolle et al., "A Survey of Efficient
 * Representations for Independent Unit Vectors", 2014. Each of the two numbers is a whole one, and means that divided by `LARGEST`.
 */
const LARGEST = { half: 127, float: 32767 } as const;

/** What is a number of so many bits, and how far to shift the second one. */
const BITS = { half: 8, float: 16 } as const;

type Kind = keyof typeof LARGEST;

/** Packs a vector, which need not be of length 1, with the nearest of the four numbers around each component. */
export function packNormal(x: number, y: number, z: number, kind: Kind): number {
  const sum = Math.abs(x) + Math.abs(y) + Math.abs(z);
  if (!(sum > 0)) return 0;
  const largest = LARGEST[kind];
  let u = x / sum;
  let v = y / sum;
  if (z < 0) [u, v] = [(1 - Math.abs(v)) * sign(u), (1 - Math.abs(u)) * sign(v)];
  const left = Math.min(Math.floor(u * largest), largest - 1);
  const low = Math.min(Math.floor(v * largest), largest - 1);
  let best = 0;
  let nearest = -Infinity;
  for (let i = 0; i < 4; i++) {
    const a = left + (i & 1);
    const b = low + (i >> 1);
    const cosine = unfold(a / largest, b / largest, _read).dot({ x, y, z });
    if (cosine <= nearest) continue;
    nearest = cosine;
    best = pair(a, b, kind);
  }
  return best;
}

/** The vector, of length 1. */
function unpackNormal(packed: number, kind: Kind, target: Vector3): Vector3 {
  const shift = 32 - BITS[kind];
  const largest = LARGEST[kind];
  const second = packed << (shift - BITS[kind]);
  return unfold(((packed << shift) >> shift) / largest, (second >> shift) / largest, target);
}

function unfold(u: number, v: number, target: Vector3): Vector3 {
  const z = 1 - Math.abs(u) - Math.abs(v);
  const folded = Math.max(-z, 0);
  return target.set(u - sign(u) * folded, v - sign(v) * folded, z).normalize();
}

/** Two numbers, which may be negative, as one. */
function pair(a: number, b: number, kind: Kind): number {
  const bits = BITS[kind];
  const mask = 2 ** bits - 1;
  return ((a & mask) | ((b & mask) << bits)) >>> 0;
}

const sign = (value: number): number => (value < 0 ? -1 : 1);

/** The vertex texture of a crowd that it poses: no other has its name. */
export const verticesOf = ({ boneTexture }: Pick<PosedCrowd, 'boneTexture'>) =>
  boneTexture as unknown as {
    readonly vertexData: VertexTextureData;
    readonly vertexTexels: DataTexture;
    readonly vertexReader: VertexReader;
  };

const _pose = /*@__PURE__*/ createPoseMix();
const _turned = /*@__PURE__*/ new Vector3();
const _normal = /*@__PURE__*/ new Vector3();
const _way = /*@__PURE__*/ new Vector3();
const _turn = /*@__PURE__*/ new Quaternion();

/** Adds what an instance shows of a vertex, a frame at a time. */
function mix(crowd: PosedCrowd, vertex: number, read: 'addPosition' | 'addNormal', target: Vector3): Vector3 {
  const { vertexReader: reader } = verticesOf(crowd);
  const joints = crowd.geometry.getAttribute('skinIndex');
  const number = joints.getY(vertex) + joints.getZ(vertex) * 65536 - 1;
  target.set(0, 0, 0);
  for (let i = 0; i < _pose.count; i++) {
    const { frame0, frame1, alpha, weight } = _pose.clips[i];
    reader[read](frame0, number, weight * (1 - alpha), target);
    if (alpha > 0) reader[read](frame1, number, weight * alpha, target);
  }
  return target;
}

/**
 * Poses a position near a vertex, or the vertex itself: by the turn that normals make, as `posingMatrix` in the shaders.
 */
function posePosition(crowd: PosedCrowd, vertex: number, target: Vector3): Vector3 {
  const { position, normal } = crowd.geometry.attributes;
  _way
    .fromBufferAttribute(position as BufferAttribute, vertex)
    .sub(target)
    .negate();
  if (verticesOf(crowd).vertexData.normals && normal !== undefined && _way.lengthSq() > 0) {
    _normal.fromBufferAttribute(normal as BufferAttribute, vertex).normalize();
    mix(crowd, vertex, 'addNormal', _turned).normalize();
    _way.applyQuaternion(_turn.setFromUnitVectors(_normal, _turned));
  }
  return mix(crowd, vertex, 'addPosition', target).add(_way);
}

/** Name of the source that poses crowds by vertex textures of a precision. */
export const vertexSourceName = (precision: Precision): string => `vertices ${precision}`;

/** Vertices that were baked frame by frame: each reads and mixes its own. */
const vertexSource = (precision: Precision): PoseSource => ({
  name: vertexSourceName(precision),
  hasFrames: true,
  setParameters({ boneTexture }, parameters) {
    const { layout } = boneTexture;
    parameters[PARAM_ROWS] = layout.height;
    parameters[PARAM_STRIDE] = layout.stride;
    parameters[PARAM_MORPH_TEXEL] = Math.log2(verticesOf({ boneTexture }).vertexData.width);
  },

  pose({ playback, interpolate }, instance) {
    playback.pose(instance, interpolate, _pose);
  },
  posedVertex: posePosition,
  posedNormal(crowd, vertex, target) {
    if (!verticesOf(crowd).vertexData.normals) return target;
    return target.copy(mix(crowd, vertex, 'addNormal', _turned));
  },
  expandBounds({ boneTexture: { data } }, target) {
    expandByClips(target, data);
  },
});

/** What poses crowds by vertex textures of a precision. */
export const VERTEX_SOURCES = {
  half: /*@__PURE__*/ vertexSource('half'),
  float: /*@__PURE__*/ vertexSource('float'),
};
