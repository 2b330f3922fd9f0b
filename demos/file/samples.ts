import type { InstanceParts, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { type AnimationClip, Color, type Object3D } from 'three';
import { load, loadCharacter } from '../lib/loadCharacter.js';
import { addLevels, createPeople, dress } from '../people.js';

/** A character to begin with, and what each instance of it wears. */
export interface Sample {
  root: Object3D;
  clips: AnimationClip[];
  dress(parts: InstanceParts, index: number): void;
  addLevels?(crowd: SkinnedInstancedMesh): void;
}

const ART = {
  knight: new URL('../art/knight.glb', import.meta.url),
  rogue: new URL('../art/rogue.glb', import.meta.url),
  villager: new URL('../art/villager.glb', import.meta.url),
};
const MOVES = new URL('../art/moves.glb', import.meta.url);
/** Of each list an instance wears one, by chance; '' is nothing. */
const CHOICES = {
  knight: [
    ['Round_Shield', 'Rectangle_Shield', 'Spike_Shield', ''],
    ['Knight_Helmet', 'Knight_Helmet', ''],
    ['Knight_Cape', ''],
  ],
  rogue: [
    ['Knife', '2H_Crossbow'],
    ['Rogue_Cape', ''],
  ],
  villager: [['Rogue_Cape', '', '']],
};
const CLOTH = [0xffffff, 0xffc880, 0x9ab4ff, 0xff9a86, 0xb0e890, 0xd8a4ff, 0xf7dd70].map(
  (hex) => new Color(hex),
);

export type SampleName = 'people' | keyof typeof ART;

const chance = (index: number, what: number) => {
  const x = Math.sin(index * 91.7 + what * 47.3 + 13.1) * 43758.5453;
  return x - Math.floor(x);
};

/** The figure that is built in code, dressed. */
export const people = (detail: number): Sample => ({
  ...createPeople({ detail }),
  dress,
  addLevels: (crowd) => addLevels(crowd, detail),
});

/** One of those that come as files, with their clips as glTF has them, so that the page bakes them. */
export async function loadSample(name: Exclude<SampleName, 'people'>): Promise<Sample> {
  const [character, { animations }] = await Promise.all([loadCharacter(ART[name]), load(MOVES)]);
  const known = new Set(character.boneTexture.clips.map((clip) => clip.name));
  character.boneTexture.dispose();
  const choices = CHOICES[name];
  const chosen = choices.flat();
  return {
    root: character.scene,
    clips: animations.filter((clip) => known.has(clip.name)),
    dress(parts, index) {
      const worn = choices.map((list, i) => list[Math.floor(chance(index, i) * list.length)]);
      const visible = parts.names.filter((part) => worn.includes(part) || !chosen.includes(part));
      parts.setVisiblePartsAt(index, visible);
      for (const part of visible) {
        if (/Head|Helmet|Knife|Crossbow|Sword/.test(part)) continue;
        parts.setColorAt(
          index,
          part,
          CLOTH[Math.floor(chance(index, /Leg/.test(part) ? 7 : 8) * CLOTH.length)],
        );
      }
    },
  };
}
