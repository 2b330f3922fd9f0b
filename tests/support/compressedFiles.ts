import { Document, NodeIO } from '@gltf-transform/core';
import {
  EXTMeshoptCompression,
  KHRDracoMeshCompression,
  KHRMeshQuantization,
  KHRTextureBasisu,
} from '@gltf-transform/extensions';
import draco3d from 'draco3d';
import { MeshoptEncoder } from 'meshoptimizer';
import { accessorsOf } from './armDocument.js';

/** How a file is written. */
export type Compression = 'plain' | 'quantised' | 'meshopt' | 'draco';

/** As a 16-bit number, what stands for 1 in normalised attributes. */
const ONE = 32767;
/** Corners of a pyramid, of numbers that come out the same however they are quantised. */
const POSITIONS = [
  [0, 0, 0],
  [1, 0, 0],
  [1, 0, 1],
  [0, 0, 1],
  [0, 1, 0],
];
const INDICES = [0, 1, 2, 0, 2, 3, 0, 4, 1, 1, 4, 2, 2, 4, 3, 3, 4, 0];

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
  const document = new Document();
  const accessor = accessorsOf(document);
  const isQuantised = compression === 'quantised';
  const corners = POSITIONS.flat();
  const weights = POSITIONS.flatMap(() => [1, 0, 0, 0]);
  const joints = POSITIONS.flatMap((_, i) => [i === POSITIONS.length - 1 ? 1 : 0, 0, 0, 0]);
  const short = Int16Array.from(corners, (value) => value * ONE);
  const bytes = Uint8Array.from(weights, (weight) => weight * 255);
  const primitive = document
    .createPrimitive()
    .setIndices(accessor('SCALAR', Uint16Array.from(INDICES)))
    .setAttribute(
      'POSITION',
      accessor('VEC3', isQuantised ? short : Float32Array.from(corners)).setNormalized(isQuantised),
    )
    .setAttribute(
      'WEIGHTS_0',
      accessor('VEC4', isQuantised ? bytes : Float32Array.from(weights)).setNormalized(isQuantised),
    )
    .setAttribute('JOINTS_0', accessor('VEC4', Uint16Array.from(joints)));
  const material = document.createMaterial().setMetallicFactor(0);
  primitive.setMaterial(material);
  if (image !== null) {
    document.createExtension(KHRTextureBasisu).setRequired(true);
    material.setBaseColorTexture(
      document
        .createTexture()
        .setMimeType('image/ktx2')
        .setImage(image as never),
    );
    primitive.setAttribute('TEXCOORD_0', accessor('VEC2', new Float32Array(2 * POSITIONS.length).fill(0.5)));
  }

  const [foot, tip] = ['Foot', 'Tip'].map((name) => document.createNode(name));
  const identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const binds = accessor('MAT4', Float32Array.from([...identity, ...identity]));
  const skin = document.createSkin().setInverseBindMatrices(binds).addJoint(foot).addJoint(tip);
  const mesh = document.createMesh().addPrimitive(primitive);
  const node = document.createNode('Pyramid').setMesh(mesh).setSkin(skin);
  document.createScene().addChild(foot.addChild(tip)).addChild(node);
  const sampler = document
    .createAnimationSampler()
    .setInput(accessor('SCALAR', Float32Array.of(0, 1)))
    .setOutput(accessor('VEC3', new Float32Array(6)));
  const channel = document.createAnimationChannel().setTargetNode(foot).setTargetPath('translation');
  document.createAnimation('Stand').addSampler(sampler).addChannel(channel.setSampler(sampler));

  if (isQuantised) document.createExtension(KHRMeshQuantization).setRequired(true);
  if (compression === 'meshopt') document.createExtension(EXTMeshoptCompression).setRequired(true);
  if (compression === 'draco') {
    document
      .createExtension(KHRDracoMeshCompression)
      .setRequired(true)
      // Keeps vertices in their order.
      .setEncoderOptions({ method: KHRDracoMeshCompression.EncoderMethod.SEQUENTIAL });
  }
  return new NodeIO()
    .registerExtensions([
      EXTMeshoptCompression,
      KHRDracoMeshCompression,
      KHRMeshQuantization,
      KHRTextureBasisu,
    ])
    .registerDependencies({
      'meshopt.encoder': MeshoptEncoder,
      'draco3d.encoder': await draco3d.createEncoderModule(),
    })
    .writeBinary(document);
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
