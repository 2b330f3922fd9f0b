import { bakeVertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import {
  AnimationUtils,
  BoxGeometry,
  Float32BufferAttribute,
  Mesh,
  MeshStandardMaterial,
  NumberKeyframeTrack,
} from 'three';
import { type Character, createCharacter } from '../../../demos/character.js';
import { type BoneTexture, bakeBoneTexture, encodingOf, extractRootMotion } from '../library.js';

/**
 * A character with all that one may have: parts, two materials, a morph target that a clip moves, a clip that walks over the
 * ground, and an additive one.
 */
function createFigure(): Character {
  const { root, clips } = createCharacter({ detail: 0.3, travel: true });
  const add = (parent: string, name: string, color: number) => {
    const mesh = new Mesh(new BoxGeometry(0.1, 0.5, 0.1), new MeshStandardMaterial({ color }));
    mesh.name = name;
    mesh.castShadow = mesh.receiveShadow = true;
    root.getObjectByName(parent)!.add(mesh);
  };
  add('RightHand', 'Sword', 0xff0000);
  add('LeftHand', 'Shield', 0x00ff00);

  const body = root.getObjectByName('Body') as Mesh;
  const position = body.geometry.getAttribute('position');
  const fat = new Float32BufferAttribute(new Float32Array(position.count * 3), 3);
  fat.name = 'Fat';
  for (let i = 0; i < position.count; i++) fat.setX(i, 0.3 * position.getX(i));
  body.geometry.morphAttributes.position = [fat];
  body.geometry.morphTargetsRelative = true;
  body.updateMorphTargets();
  const wave = clips.find(({ name }) => name === 'Wave');
  wave?.tracks.push(new NumberKeyframeTrack('Body.morphTargetInfluences[Fat]', [0, 1], [0, 1]));
  const nod = AnimationUtils.makeClipAdditive(clips[0].clone());
  nod.name = 'Nod';
  return { root, clips: [...clips, nod] };
}

/** What poses vertices: a bone texture of an encoding, or a vertex texture. */
export type Source = 'tracks' | 'frames' | 'vertices';

export const { root, clips } = createFigure();

/** Clips that are not additive. */
export const CLIP_NAMES = clips.map(({ name }) => name).filter((name) => name !== 'Nod');

function bake(source: Source): BoneTexture {
  const texture =
    source === 'vertices'
      ? bakeVertexTexture(root, clips, { fps: 8 })
      : bakeBoneTexture(root, clips, {
          encoding: encodingOf(source),
          fps: 8,
          rootMotion: extractRootMotion({ clips: ['Walk', 'Run'] }),
        });
  return texture.addMarker('Run', 0.25, 'step').addMarker('Wave', 0.5, 'hello');
}

/** Baked once for all programs: of each kind two, so that one can take the place of the other. */
const textures = new Map<Source, BoneTexture[]>();
export function texturesOf(source: Source): BoneTexture[] {
  const known = textures.get(source) ?? [bake(source), bake(source)];
  textures.set(source, known);
  return known;
}
