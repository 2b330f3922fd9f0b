import { Quaternion, Vector3 } from 'three';
import { createCharacter } from '../../../demos/character.js';
import { createGestures } from '../../../demos/layers/gestures.js';
import { Puppet } from '../../../demos/layers/Puppet.js';
import { layersOf } from '../../support/features.js';
import { AnimationLayers, bakeCharacter, JointEdits, SkinnedInstancedMesh } from '../../support/library.js';
import { type EngineScene, inRows } from '../EngineScene.js';
import { posedVertices } from '../readBack.js';

function crowdOf(count: number): SkinnedInstancedMesh {
  const { root, clips } = createCharacter();
  clips.push(...createGestures());
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
  new AnimationLayers(crowd, [
    { name: 'arms', mask: ['Spine'] },
    { name: 'lean', additive: true, weight: 0.5 },
  ]);
  return inRows(crowd, { columns: 3 });
}

/** Clips by weight, on layers with masks, added, and in fades; some posed less often than drawn. */
export const layers: EngineScene = {
  name: 'layers',
  build() {
    const crowd = crowdOf(6);
    crowd.playAll('Walk', { time: (i) => 0.1 * i });
    crowd.play({ start: 0, count: 3 }, 'Run', { weight: 0.6 }).play(1, 'Dance', { weight: 0.3, fade: 1 });
    crowd.play({ start: 1, count: 4 }, 'Strike', { layer: 'arms' }).play(5, 'Carry', { layer: 'arms' });
    crowd.play({ start: 2, count: 4 }, 'Lean', { layer: 'lean' });
    crowd.setPoseRateAt({ start: 3, count: 3 }, 10);
    layersOf(crowd).setWeightAt(4, 'arms', 0.4, { fade: 1 });
    crowd.update(0.4).play(3, 'Wave', { layer: 'arms', fade: 0.8 }).update(0.3);
    return { crowds: { crowd } };
  },
  readBack: { vertices: posedVertices },
};

/** Joints that are turned, moved, scaled and look at something, and poses of a skeleton that code moves. */
export const edits: EngineScene = {
  name: 'edits and live poses',
  build() {
    const crowd = crowdOf(6);
    crowd.playAll('Walk', { time: (i) => 0.1 * i }).update(0.2);
    const edits = new JointEdits(crowd);
    const turn = new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), 0.9);
    edits.setRotationAt(0, 'Chest', turn, { mode: 'add', space: 'model' });
    edits.setRotationAt(0, 'LeftUpperArm', turn, { weight: 0.7 });
    edits.setScaleAt(1, 'Head', new Vector3(1.6, 1.8, 1.6));
    edits.setPositionAt(1, 'Hips', new Vector3(0, 0.3, 0), { mode: 'add' });
    edits.lookAt({ start: 2, count: 2 }, 'Head', new Vector3(9, 5, 9), {
      axis: new Vector3(0, 0, 1),
      limit: 1.1,
    });
    const puppet = new Puppet(createCharacter().root, 0);
    puppet.move(1.3);
    edits.setPoseAt(4, puppet.root).setPoseAt(5, puppet.root);
    crowd.update(0.1);
    edits.setPoseAt(5, null, { fade: 1 });
    crowd.update(0.4);
    return { crowds: { crowd } };
  },
  readBack: { vertices: posedVertices },
};
