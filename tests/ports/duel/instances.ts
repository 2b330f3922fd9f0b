/** Fighters strike, are hit and fall, each a machine of states; typed by the namespace of three.js. */
import * as SIM from 'skinned-instanced-mesh';
import * as THREE from 'three';
import { createWorld } from '../../../demos/ports/lib/createWorld.js';
import type { Program } from '../../../demos/ports/lib/Program.js';
import { random } from '../../../demos/ports/lib/random.js';
import { createSoldier } from '../../../demos/ports/models/people.js';

interface Fighter {
  readonly model: THREE.Object3D;
  readonly mixer: SIM.InstanceMixer;
  readonly actions: Map<string, SIM.InstanceAction>;
  active: SIM.InstanceAction;
  health: number;
  loading: number;
}

export function createDuel(count: number): Program {
  const { scene, camera } = createWorld(7, 0x8a7a5f);
  const { scene: asset, animations } = createSoldier();
  const chance = random(5);
  asset.traverse((child) => {
    child.castShadow = true;
  });

  const crowd = new SIM.SkinnedInstancedMesh(SIM.bakeCharacter(asset, animations), 0);
  scene.add(crowd);

  function switchTo(fighter: Fighter, name: string, fade = 0.15): void {
    const next = fighter.actions.get(name);
    if (!next) throw new Error(`no clip ${name}`);
    if (next === fighter.active) return;
    next.enabled = true;
    next.time = 0;
    fighter.active.fadeOut(fade);
    fighter.active = next.reset().fadeIn(fade).play();
  }

  function createFighter(i: number): Fighter {
    const model = new SIM.SkinnedInstance(crowd);
    model.position.set((i % 4) * 2 - 3, 0, Math.floor(i / 4) * 1.4 - 2);
    model.rotation.y = i % 2 ? -Math.PI / 2 : Math.PI / 2;
    scene.add(model);
    const { mixer } = model;
    const actions = new Map(animations.map((clip) => [clip.name, mixer.clipAction(clip)] as const));
    for (const name of ['Attack', 'Hit', 'Die']) actions.get(name)?.setLoop(THREE.LoopOnce, 1);
    const die = actions.get('Die');
    if (die) die.clampWhenFinished = true;
    const active = mixer.clipAction(THREE.AnimationClip.findByName(animations, 'Idle')!);
    active.time = chance();
    const fighter: Fighter = { model, mixer, actions, active: active.play(), health: 2, loading: chance() };
    mixer.addEventListener('finished', ({ action }) => {
      if (action !== fighter.active || fighter.health <= 0) return;
      switchTo(fighter, 'Idle');
    });
    return fighter;
  }
  const fighters = Array.from({ length: count }, (_, i) => createFighter(i));

  function update(delta: number): void {
    fighters.forEach((fighter, i) => {
      fighter.mixer.update(delta);
      const foe = fighters[i ^ 1];
      fighter.loading -= delta;
      if (fighter.health <= 0 || foe.health <= 0 || fighter.loading > 0) return;
      fighter.loading = 0.8 + chance();
      switchTo(fighter, 'Attack');
      foe.health--;
      switchTo(foe, foe.health > 0 ? 'Hit' : 'Die');
    });
  }
  return { scene, camera, update };
}
