/** People who walk or stand, and nod and wave on top of it by additive actions, as three.js's own example mixes them. */
import * as THREE from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import { createCharacter } from '../../../demos/character.js';
import { createWorld } from '../../../demos/ports/lib/createWorld.js';
import type { Program } from '../../../demos/ports/lib/Program.js';

const BASE = ['Idle', 'Walk'];
const ADDED = ['Wave', 'Dance'];

export function createBreath(count: number): Program {
  const { scene, camera } = createWorld(6, 0x6f8a7a);
  const { root, clips } = createCharacter({ detail: 0.4 });
  for (const name of ADDED) {
    const clip = THREE.AnimationClip.findByName(clips, name)!;
    THREE.AnimationUtils.makeClipAdditive(clip);
  }

  const people = Array.from({ length: count }, (_, i) => {
    const model = SkeletonUtils.clone(root);
    model.position.set((i % 4) * 1.5 - 2.25, 0, Math.floor(i / 4) * 1.4 - 2);
    scene.add(model);
    const mixer = new THREE.AnimationMixer(model);
    const actions = Object.fromEntries(clips.map((clip) => [clip.name, mixer.clipAction(clip)]));
    for (const name of ADDED) {
      actions[name].blendMode = THREE.AdditiveAnimationBlendMode;
      actions[name].play().setEffectiveWeight(0);
    }
    actions[BASE[i % 2]].play().time = i * 0.13;
    return { mixer, actions };
  });

  let time = 0;
  function update(delta: number): void {
    time += delta;
    people.forEach(({ mixer, actions }, i) => {
      actions.Wave.setEffectiveWeight(Math.max(0, Math.sin(time + i)));
      actions.Dance.weight = 0.3 * (i % 3);
      actions.Dance.setEffectiveTimeScale(0.5 + 0.1 * i);
      mixer.update(delta);
    });
  }
  return { scene, camera, update };
}
