/** Runners who start slowly, speed up, stride into a run and come to a halt: warps and time scales. */
import { bakeCharacter, SkinnedInstance, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import * as THREE from 'three';
import { createCharacter } from '../../../demos/character.js';
import { createWorld } from '../../../demos/ports/lib/createWorld.js';
import type { Program } from '../../../demos/ports/lib/Program.js';

const LENGTH = 4;

export function createRunners(count: number): Program {
  const { scene, camera } = createWorld(7, 0xa06a50);
  const { root, clips } = createCharacter({ detail: 0.4 });
  const clipOf = (name: string) => THREE.AnimationClip.findByName(clips, name)!;

  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
  scene.add(crowd);
  const runners = Array.from({ length: count }, (_, i) => {
    const model = new SkinnedInstance(crowd);
    model.position.set(i - count / 2, 0, -2);
    scene.add(model);
    const { mixer } = model;
    const walk = mixer.clipAction(clipOf('Walk'));
    const run = mixer.clipAction(clipOf('Run'));
    walk.play().warp(0.2, 1.4, 0.5 + 0.05 * i);
    return { model, mixer, walk, run, i, stage: 0, time: 0 };
  });

  function update(delta: number): void {
    for (const runner of runners) {
      const { model, mixer, walk, run, i } = runner;
      runner.time += delta;
      if (runner.stage === 0 && runner.time > 0.8 + 0.05 * i) {
        runner.stage = 1;
        run.enabled = true;
        run.setEffectiveTimeScale(1).setEffectiveWeight(1);
        run.syncWith(walk).play();
        walk.crossFadeTo(run, 0.5, true);
      }
      if (runner.stage === 1 && runner.time > 1.8 + 0.07 * i) {
        runner.stage = 2;
        run.halt(0.6);
      }
      if (runner.stage === 2 && run.paused) {
        runner.stage = 3;
        run.paused = false;
        run.setDuration(2 + 0.1 * i);
      }
      const speed =
        walk.getEffectiveTimeScale() * walk.getEffectiveWeight() + 2 * run.getEffectiveTimeScale();
      if (runner.stage < 3) model.position.z = Math.min(model.position.z + speed * delta, LENGTH);
      mixer.timeScale = i % 3 === 0 ? 0.8 : 1;
      mixer.update(delta);
    }
  }
  return { scene, camera, update };
}
