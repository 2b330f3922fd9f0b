import { createCharacter } from '../../../demos/character.js';
import {
  assembleCharacter,
  bakeBoneTexture,
  bakeCharacter,
  frames,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { loadModel } from '../../support/models.js';
import { characterHeight } from '../../support/reference.js';
import { type EngineScene, inRows } from '../EngineScene.js';
import { posedVertices } from '../readBack.js';

const ENCODINGS = [
  { encoding: frames, precision: 'float' },
  { encoding: frames, precision: 'half' },
  { precision: 'float' },
  { precision: 'half' },
] as const;

/** The same pose out of every kind of bone texture, and with less work a vertex. */
export const encodings: EngineScene = {
  name: 'encodings',
  build() {
    const { root, clips } = createCharacter();
    const crowds: Record<string, SkinnedInstancedMesh> = {};
    ENCODINGS.forEach((options, column) => {
      const boneTexture = bakeBoneTexture(root, clips, options);
      const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 2);
      crowd.play(0, 'Run', { time: 0.31 }).play(1, 'Dance', { time: 1.07 }).update(0);
      crowds[`${boneTexture.encoding} ${options.precision}`] = inRows(crowd, { columns: 1, first: column });
    });
    const boneTexture = crowds['frames float'].boneTexture;
    const coarse = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 2, {
      influences: 1,
      interpolate: false,
    });
    coarse.play(0, 'Run', { time: 0.31 }).play(1, 'Dance', { time: 1.07 }).update(0);
    crowds['nearest frame, one joint'] = inRows(coarse, { columns: 1, first: ENCODINGS.length });
    return { crowds };
  },
  readBack: { vertices: posedVertices },
};

/** A character of a file: at its middle clip, and fading from there into its last. */
export function realModel(file: string): EngineScene {
  return {
    name: file,
    async build() {
      const { root, clips } = await loadModel(file);
      const height = characterHeight(root);
      const crowd = inRows(new SkinnedInstancedMesh(bakeCharacter(root, clips), 2), { columns: 2, height });
      const middle = Math.floor(clips.length / 2);
      const { duration } = clips[middle];
      crowd.play(0, middle, { time: 0.43 * duration }).play(1, middle, { time: 0.71 * duration });
      crowd.play(1, clips.length - 1, { fade: 1 }).update(0.4);
      return { crowds: { crowd }, height, shadows: true };
    },
    readBack: { vertices: posedVertices },
  };
}
