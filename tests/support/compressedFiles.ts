import draco3d from 'draco3d';
import { MeshoptEncoder } from 'meshoptimizer';
import { glbOf } from './glb.js';

/** How a file is written. */
export type Compression = 'plain' | 'quantised' | 'meshopt' | 'draco';

const FLOAT = 5126;
const SHORT = 5122;
const USHORT = 5123;
const UBYTE = 5121;

/** As a 16-bit number, what stands for 1 in normalised attributes. */
const ONE = 32767;
/** Corners of a pyramid, of numbers that come out the same however they are quantised. */
const POSITIONS = [
  [-1, 0, -1],
  [1, 0, -1],
  [1, 0, 1],
  [-1, 0, 1],
  [0, 1, 0],
];
const INDICES = [0, 1, 2, 0, 2, 3, 0, 4, 1, 1, 4, 2, 2, 4, 3, 3, 4, 0];

interface View {
  bytes: Uint8Array;
  stride: number;
  count: number;
  mode: 'ATTRIBUTES' | 'TRIANGLES' | null;
}

/**
 * A skinned pyramid on two joints, with one clip that stands still, as a .glb written in one of the ways in which files are
 * made smaller.
 *
 * @param image A KTX2 image for its material.
 */
export async function pyramid(
  compression: Compression,
  image: Uint8Array | null = null,
): Promise<Uint8Array> {
  await MeshoptEncoder.ready;
  const views: View[] = [];
  const accessors: object[] = [];
  const view = (array: ArrayBufferView, count: number, mode: View['mode'] = null): number => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    return views.push({ bytes, stride: bytes.length / count, count, mode }) - 1;
  };
  const accessor = (
    bufferView: number | undefined,
    componentType: number,
    type: string,
    count: number,
    more = {},
  ) => accessors.push({ bufferView, componentType, type, count, ...more }) - 1;

  const corners = POSITIONS.length;
  const limits = (one: number) => ({ min: [-one, 0, -one], max: [one, one, one] });
  const floats = Float32Array.from(POSITIONS.flat());
  const joints = Uint16Array.from(POSITIONS.flatMap((_, i) => [i === corners - 1 ? 1 : 0, 0, 0, 0]));
  const weights = Float32Array.from(POSITIONS.flatMap(() => [1, 0, 0, 0]));

  const primitive: Record<string, unknown> = { material: 0 };
  const attributes: Record<string, number> = {};
  primitive.attributes = attributes;
  if (compression === 'draco') {
    const { bytes, ids } = encodeDraco(floats, joints, weights);
    const bufferView = view(bytes, 1);
    primitive.extensions = { KHR_draco_mesh_compression: { bufferView, attributes: ids } };
  }
  const unlessDraco = (array: ArrayBufferView, count: number, mode: View['mode']) =>
    compression === 'draco' ? undefined : view(array, count, mode);

  if (compression === 'quantised') {
    // Elements begin at multiples of four bytes.
    const shorts = Int16Array.from(
      POSITIONS.flatMap((corner) => [...corner, 0]),
      (value) => value * ONE,
    );
    attributes.POSITION = accessor(view(shorts, corners), SHORT, 'VEC3', corners, {
      ...limits(ONE),
      normalized: true,
    });
    const bytes = Uint8Array.from(weights, (weight) => weight * 255);
    attributes.WEIGHTS_0 = accessor(view(bytes, corners), UBYTE, 'VEC4', corners, { normalized: true });
  } else {
    const position = unlessDraco(floats, corners, 'ATTRIBUTES');
    attributes.POSITION = accessor(position, FLOAT, 'VEC3', corners, limits(1));
    attributes.WEIGHTS_0 = accessor(unlessDraco(weights, corners, 'ATTRIBUTES'), FLOAT, 'VEC4', corners);
  }
  attributes.JOINTS_0 = accessor(unlessDraco(joints, corners, 'ATTRIBUTES'), USHORT, 'VEC4', corners);
  if (image !== null) {
    const middle = view(new Float32Array(2 * corners).fill(0.5), corners, 'ATTRIBUTES');
    attributes.TEXCOORD_0 = accessor(middle, FLOAT, 'VEC2', corners);
  }
  const index = unlessDraco(Uint16Array.from(INDICES), INDICES.length, 'TRIANGLES');
  primitive.indices = accessor(index, USHORT, 'SCALAR', INDICES.length);

  const identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const binds = accessor(
    view(Float32Array.from([...identity, ...identity]), 2, 'ATTRIBUTES'),
    FLOAT,
    'MAT4',
    2,
  );
  const times = accessor(view(Float32Array.of(0, 1), 2, 'ATTRIBUTES'), FLOAT, 'SCALAR', 2, {
    min: [0],
    max: [1],
  });
  const places = accessor(view(new Float32Array(6), 2, 'ATTRIBUTES'), FLOAT, 'VEC3', 2);
  const imageView = image === null ? undefined : view(image, 1);

  const { bufferViews, buffers, bytes } = pack(views, compression === 'meshopt');
  const extensions = { meshopt: 'EXT_meshopt_compression', draco: 'KHR_draco_mesh_compression' };
  const needed = [
    ...(compression === 'quantised' ? ['KHR_mesh_quantization'] : []),
    ...(compression in extensions ? [extensions[compression as keyof typeof extensions]] : []),
    ...(image === null ? [] : ['KHR_texture_basisu']),
  ];
  const texture = image === null ? {} : { baseColorTexture: { index: 0 } };
  const document = {
    asset: { version: '2.0' },
    extensionsUsed: needed.length > 0 ? needed : undefined,
    extensionsRequired: needed.length > 0 ? needed : undefined,
    scene: 0,
    scenes: [{ nodes: [0, 2] }],
    nodes: [{ name: 'Foot', children: [1] }, { name: 'Tip' }, { name: 'Pyramid', mesh: 0, skin: 0 }],
    skins: [{ joints: [0, 1], inverseBindMatrices: binds }],
    meshes: [{ primitives: [primitive] }],
    materials: [{ pbrMetallicRoughness: { baseColorFactor: [1, 1, 1, 1], metallicFactor: 0, ...texture } }],
    ...(image === null
      ? {}
      : {
          textures: [{ extensions: { KHR_texture_basisu: { source: 0 } } }],
          images: [{ bufferView: imageView, mimeType: 'image/ktx2' }],
        }),
    animations: [
      {
        name: 'Stand',
        samplers: [{ input: times, output: places }],
        channels: [{ sampler: 0, target: { node: 0, path: 'translation' } }],
      },
    ],
    accessors,
    bufferViews,
    buffers,
  };
  return new Uint8Array(glbOf(document, bytes));
}

/** Puts views behind each other, as they are or as meshoptimizer packs them. */
function pack(views: readonly View[], meshopt: boolean) {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const add = (bytes: Uint8Array) => {
    const at = length;
    const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
    padded.set(bytes);
    chunks.push(padded);
    length += padded.length;
    return at;
  };
  let unpacked = 0;
  const bufferViews = views.map(({ bytes, stride, count, mode }) => {
    const own = { byteLength: bytes.length };
    if (!meshopt || mode === null)
      return { buffer: 0, byteOffset: add(bytes), ...own, ...strideOf(stride, mode) };
    const encoded = MeshoptEncoder.encodeGltfBuffer(bytes, count, stride, mode);
    const packed = {
      buffer: 0,
      byteOffset: add(encoded),
      byteLength: encoded.length,
      byteStride: stride,
      count,
      mode,
    };
    const at = unpacked;
    unpacked += Math.ceil(bytes.length / 4) * 4;
    return { buffer: 1, byteOffset: at, ...own, extensions: { EXT_meshopt_compression: packed } };
  });
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  const buffers: object[] = [{ byteLength: length }];
  // What the views would lie in if they were not packed; nobody reads it.
  if (meshopt)
    buffers.push({ byteLength: unpacked, extensions: { EXT_meshopt_compression: { fallback: true } } });
  return { bufferViews, buffers, bytes };
}

/** Quantised positions have padding behind each. */
function strideOf(stride: number, mode: View['mode']): { byteStride?: number } {
  return mode === null && stride === 8 ? { byteStride: stride } : {};
}

const dracoEncoder = await draco3d.createEncoderModule({});

function encodeDraco(positions: Float32Array, joints: Uint16Array, weights: Float32Array) {
  const encoder = new dracoEncoder.Encoder();
  const builder = new dracoEncoder.MeshBuilder();
  const mesh = new dracoEncoder.Mesh();
  const count = positions.length / 3;
  const { POSITION, GENERIC } = dracoEncoder;
  builder.AddFacesToMesh(mesh, INDICES.length / 3, Uint16Array.from(INDICES));
  const ids = {
    POSITION: builder.AddFloatAttributeToMesh(mesh, POSITION, count, 3, positions),
    JOINTS_0: builder.AddUInt16Attribute(mesh, GENERIC, count, 4, joints),
    WEIGHTS_0: builder.AddFloatAttributeToMesh(mesh, GENERIC, count, 4, weights),
  };
  // Keeps vertices in their order, and their numbers as they are.
  encoder.SetEncodingMethod(dracoEncoder.MESH_SEQUENTIAL_ENCODING);
  const packed = new dracoEncoder.DracoInt8Array();
  const length = encoder.EncodeMeshToDracoBuffer(mesh, packed);
  const bytes = Uint8Array.from({ length }, (_, i) => packed.GetValue(i));
  for (const made of [packed, mesh, builder, encoder]) dracoEncoder.destroy(made);
  return { bytes, ids };
}

/** A KTX2 image of 4 × 4 pixels of one colour, as Basis Universal's UASTC writes it. */
export function solidKtx2(red: number, green: number, blue: number): Uint8Array {
  // Block of mode 8, which is one colour: the mode's code, the colour, hints for ETC1; lowest bits first.
  const block = new Uint8Array(16);
  let bit = 0;
  const write = (value: number, bits: number) => {
    for (let i = 0; i < bits; i++, bit++) block[bit >> 3] |= ((value >> i) & 1) << (bit & 7);
  };
  write(0x17, 5);
  for (const channel of [red, green, blue, 255]) write(channel, 8);
  write(1, 1);
  write(0, 3);
  write(0, 2);
  for (const channel of [red, green, blue]) write(channel >> 3, 5);

  const descriptionAt = 104;
  const levelAt = 160;
  const words = [
    // what every KTX2 file begins with
    ...[0x58544bab, 0xbb303220, 0x0a1a0a0d],
    // no format of a GPU's, bytes, 4 × 4 × 0 pixels, no layers, one face, one level, packed no further
    ...[0, 1, 4, 4, 0, 0, 1, 1, 0],
    // where the description is, and nothing else
    ...[descriptionAt, 44, 0, 0, 0, 0, 0, 0],
    // where the level is, and its size twice, as numbers of 64 bits
    ...[levelAt, 0, 16, 0, 16, 0],
    // the description: UASTC in sRGB, in blocks of 4 × 4 pixels and 16 bytes
    ...[44, 0, 2 | (40 << 16), 166 | (1 << 8) | (2 << 16), 3 | (3 << 8), 16, 0],
    // which hold one sample of 128 bits
    ...[127 << 16, 0, 0, 0xffffffff],
  ];
  const bytes = new Uint8Array(levelAt + 16);
  bytes.set(new Uint8Array(Uint32Array.from(words).buffer));
  bytes.set(block, levelAt);
  return bytes;
}
