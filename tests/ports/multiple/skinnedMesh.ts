/** three.js's example webgl_animation_multiple, with models in several rows: each with a skeleton and a state of its own. */
import * as THREE from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import { createCharacter } from '../../../demos/character.js';
import { createWorld } from '../../../demos/ports/lib/createWorld.js';
import type { Program } from '../../../demos/ports/lib/Program.js';

export function createMultiple(count: number): Program {
  const { scene, camera } = createWorld(6, 0x999999);
  const { root: model, clips: animations } = createCharacter({ detail: 0.4 });
  const mixers: THREE.AnimationMixer[] = [];

  function setupDefaultScene(z: number): void {
    const model1 = SkeletonUtils.clone(model);
    const model2 = SkeletonUtils.clone(model);
    const model3 = SkeletonUtils.clone(model);

    model1.position.set(-2, 0, z);
    model2.position.set(0, 0, z);
    model3.position.set(2, 0, z);

    const mixer1 = new THREE.AnimationMixer(model1);
    const mixer2 = new THREE.AnimationMixer(model2);
    const mixer3 = new THREE.AnimationMixer(model3);

    mixer1.clipAction(animations[0]).play();
    mixer2.clipAction(animations[1]).play();
    mixer3.clipAction(animations[3]).play();

    scene.add(model1, model2, model3);
    mixers.push(mixer1, mixer2, mixer3);
  }
  for (let row = 0; row < count / 3; row++) setupDefaultScene(2 - row * 2);

  function update(delta: number): void {
    for (const mixer of mixers) mixer.update(delta);
  }
  return { scene, camera, update };
}
