import { createCharacter } from '../../../demos/character.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';
import type { LightKind } from '../../support/pictures.js';
import { type EngineScene, inRows } from '../EngineScene.js';
import { posedVertices } from '../readBack.js';

/** Shadows of one light, drawn with fewer influences than the characters. */
function shadowsOf(light: LightKind): EngineScene {
  return {
    name: `${light} shadows`,
    build() {
      const { root, clips } = createCharacter();
      const crowd = inRows(new SkinnedInstancedMesh(bakeCharacter(root, clips), 4, { shadowInfluences: 2 }), {
        columns: 2,
      });
      crowd.playAll('Dance', { time: (i) => 0.4 * i }).update(0.2);
      return { crowds: { crowd }, light, shadows: true };
    },
    readBack: { vertices: posedVertices },
  };
}

export const directionalShadows = shadowsOf('directional');
export const pointShadows = shadowsOf('point');
