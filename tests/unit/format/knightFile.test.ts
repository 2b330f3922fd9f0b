import { gzipSync } from 'node:zlib';
import { MeshoptDecoder, MeshoptEncoder } from 'meshoptimizer';
import { encodeBoneTexture, readBoneTexture, writeBoneTexture } from 'skinned-instanced-mesh/files';
import { expect, test } from 'vitest';
import { packView } from '../../../lib/format/compressedViews.js';
import { parseGlb } from '../../../lib/format/glb.js';
import { animationBytes } from '../../support/animationBytes.js';
import { BoneTexture } from '../../support/library.js';
import { loadModel, modelNames } from '../../support/models.js';

/** The baked animation of 76 clips, in numbers of 16 bits, may have so many bytes at most. Measured: 432,056. */
const MOST_BYTES = 450_000;
/** By how much loading it is faster than baking at least. Measured: 10 to 15 times. */
const LEAST_GAIN = 5;
const ROUNDS = 4;

const model = (await modelNames()).find((name) => name === 'Knight.glb');

test.runIf(model)('the Knight: bytes of the file, and time to load it', async () => {
  await Promise.all([MeshoptEncoder.ready, MeshoptDecoder.ready]);
  const { root, clips } = await loadModel('Knight.glb');
  const options = { precision: 'half', maxError: 1e-3 } as const;
  const boneTexture = BoneTexture.bake(root, clips, options);
  const file = writeBoneTexture(boneTexture, { meshoptEncoder: MeshoptEncoder });

  const { json, views } = encodeBoneTexture(boneTexture.data);
  for (const [name, array] of Object.entries(json.arrays)) {
    const bytes = views[array.view];
    const packed = packView(bytes, array, MeshoptEncoder).bytes;
    console.log(`${name}: ${bytes.length} bytes, ${packed.length} compressed`);
  }
  const source = animationBytes(parseGlb(await readSource()).json as never);
  console.log(
    `file: ${file.length} bytes (${gzipSync(file).length} as servers send it), of these JSON ${JSON.stringify(parseGlb(file).json).length}; ` +
      `without meshoptimizer ${writeBoneTexture(boneTexture).length}; on the GPU ${boneTexture.byteLength}; ` +
      `the source's animations: ${source} bytes`,
  );
  expect(file.length).toBeLessThan(MOST_BYTES);
  expect(file.length).toBeLessThan(source);

  let load = Infinity;
  let bake = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await readBoneTexture(file, { meshoptDecoder: MeshoptDecoder });
    const middle = performance.now();
    BoneTexture.bake(root, clips, options);
    load = Math.min(load, middle - start);
    bake = Math.min(bake, performance.now() - middle);
  }
  const gain = `${(bake / load).toFixed(1)} × (asked ${LEAST_GAIN})`;
  console.log(`read in ${load.toFixed(1)} ms, baked in ${bake.toFixed(1)} ms: ${gain}`);
});

async function readSource(): Promise<ArrayBuffer> {
  return (await import('../../setup/models.mjs')).readModel('Knight.glb');
}
