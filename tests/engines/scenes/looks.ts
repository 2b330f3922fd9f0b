import {
  AnimationClip,
  Color,
  CylinderGeometry,
  DataArrayTexture,
  Float32BufferAttribute,
  type KeyframeTrack,
  LinearFilter,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  NumberKeyframeTrack,
} from 'three';
import { createCharacter } from '../../../demos/character.js';
import { createWardrobe } from '../../../demos/dressing/outfits.js';
import { crowdArguments } from '../../support/crowdArguments.js';
import { morphsOf, orderOf, partsOf, uniformsOf } from '../../support/features.js';
import { bakeCharacter, JointAttachment, SkinnedInstancedMesh } from '../../support/library.js';
import { type EngineScene, inRows } from '../EngineScene.js';
import { posedVertices } from '../readBack.js';

/** Four in different clothes, in different colours. */
function createDressed(mergeMaterials: boolean): SkinnedInstancedMesh {
  const { root, clips } = createWardrobe();
  const crowd = inRows(new SkinnedInstancedMesh(...crowdArguments(root, clips, 4, { mergeMaterials })), {
    columns: 2,
  });
  partsOf(crowd).setVisiblePartsAt(0, ['Casual', 'Cap', 'Shield']);
  partsOf(crowd).setVisiblePartsAt(1, ['Suit', 'Top hat', 'Glasses', 'Sword']);
  partsOf(crowd).setVisiblePartsAt(2, ['Casual', 'Horns', 'Backpack', 'Belt']);
  partsOf(crowd).setVisiblePartsAt(3, ['Top hat', 'Sword', 'Shield']);
  partsOf(crowd).setColorAt(0, 'Cap', new Color(0xff5533)).setColorAt(0, 'Shield', new Color(0x3366ff));
  partsOf(crowd).setColorAt(2, 'Casual', new Color(0x88ff88));
  const stout = new Mesh();
  stout.morphTargetInfluences = crowd.morphTargetInfluences?.map(() => 1);
  morphsOf(crowd);
  crowd.setMorphAt(2, stout);
  return crowd.playAll('Walk', { time: (i) => 0.2 * i }).update(0.1);
}

/** Parts shown, hidden and coloured, in several materials. */
export const parts: EngineScene = {
  name: 'parts',
  build: () => ({ crowds: { crowd: createDressed(false) } }),
  readBack: { vertices: posedVertices },
};

/** The same in one material, which takes one vertex attribute more. */
export const mergedMaterials: EngineScene = {
  name: 'merged materials',
  build: () => ({ crowds: { crowd: createDressed(true) } }),
  readBack: { vertices: posedVertices },
};

/** Two layers of soft colours. */
function createLayers(): DataArrayTexture {
  const size = 8;
  const bytes = new Uint8Array(size * size * 4 * 2);
  for (let i = 0; i < size * size * 2; i++) {
    const isSecond = i >= size * size;
    bytes.set(
      [isSecond ? 255 : 20 * (i % size) + 90, 200, isSecond ? 10 * (i % size) + 90 : 255, 255],
      i * 4,
    );
  }
  const layers = new DataArrayTexture(bytes, size, size, 2);
  layers.magFilter = layers.minFilter = LinearFilter;
  layers.needsUpdate = true;
  return layers;
}

/** Emission, opacity, roughness, metalness and layers of a texture array, each instance its own. */
export const surfaces: EngineScene = {
  name: 'surfaces',
  build() {
    const { root, clips } = createCharacter();
    const crowd = inRows(new SkinnedInstancedMesh(bakeCharacter(root, clips), 4), { columns: 2 });
    crowd.material = new MeshStandardMaterial({ map: createLayers(), transparent: true });
    orderOf(crowd).sortObjects = true;
    uniformsOf(crowd)
      .setAt(0, 'emissive', new Color(0x803010))
      .setAt(1, 'opacity', 0.6)
      .setAt(3, 'opacity', 0.8);
    uniformsOf(crowd)
      .setAt(2, 'roughness', 0.6)
      .setAt(2, 'metalness', 0.3)
      .setAt(2, 'mapLayer', 1)
      .setAt(1, 'mapLayer', 1);
    return { crowds: { crowd: crowd.playAll('Walk', { time: (i) => 0.2 * i }).update(0.1) } };
  },
  readBack: { vertices: posedVertices },
};

/** The body with two morph targets, positions and normals, and a clip that moves them. */
function createMorphed() {
  const { root, clips } = createCharacter();
  const body = root.getObjectByName('Body') as Mesh;
  const { position, normal } = body.geometry.attributes;
  const moved = (name: string, reach: number) => {
    const target = new Float32BufferAttribute(new Float32Array(position.count * 3), 3);
    target.name = name;
    for (let i = 0; i < position.count; i++) {
      const wave = reach * (1 + Math.sin(9 * position.getY(i)));
      target.setXYZ(i, normal.getX(i) * wave, 0, normal.getZ(i) * wave);
    }
    return target;
  };
  body.geometry.morphAttributes.position = [moved('rings', 0.04), moved('grown', 0.03)];
  body.geometry.morphAttributes.normal = [moved('rings', 0.4), moved('grown', 0)];
  body.geometry.morphTargetsRelative = true;
  body.updateMorphTargets();
  const track = new NumberKeyframeTrack('Body.morphTargetInfluences', [0, 0.5, 1], [0, 0, 1, 0.2, 0.3, 1]);
  const walk = clips.find(({ name }) => name === 'Walk') as AnimationClip;
  const talk = new AnimationClip('Talk', 1, [...walk.tracks, track as KeyframeTrack]);
  return { root, clips: [walk, talk] };
}

/** Morph targets that a clip moves, that fade, and that an instance has of its own. */
export const morphs: EngineScene = {
  name: 'morph targets',
  build() {
    const { root, clips } = createMorphed();
    const crowd = inRows(new SkinnedInstancedMesh(bakeCharacter(root, clips), 4), { columns: 2 });
    crowd.playAll('Talk', { time: (i) => 0.23 * i }).play(3, 'Walk');
    const own = new Mesh();
    own.morphTargetInfluences = [0.2, 0.9];
    morphsOf(crowd);
    crowd.setMorphAt(3, own).setMorphAt(2, own);
    crowd.update(0.2).play(1, 'Walk', { fade: 1 }).update(0.4);
    return { crowds: { crowd } };
  },
  readBack: { vertices: posedVertices },
};

/** Something in every hand but one. */
export const attachments: EngineScene = {
  name: 'attachments',
  build() {
    const { root, clips } = createCharacter();
    const crowd = inRows(new SkinnedInstancedMesh(bakeCharacter(root, clips), 4), { columns: 2 });
    const club = new CylinderGeometry(0.08, 0.04, 0.7, 12);
    const material = new MeshStandardMaterial({ color: 0xaa6633 });
    const offset = new Matrix4().makeRotationX(1.2).setPosition(0, -0.05, 0.25);
    const attached = new JointAttachment(crowd, 'RightHand', club, material, { offset });
    partsOf(attached).setVisibleAt(2, 0, false);
    attached.setColorAt(1, new Color(0x66ccff));
    crowd.playAll('Run', { time: (i) => 0.15 * i }).update(0.1);
    return { crowds: { crowd, attached } };
  },
  readBack: { vertices: posedVertices },
};
