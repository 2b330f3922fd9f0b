/** Animals of several kinds, which fade from one gait to another, and their visitors, with hats and balloons. */
import { bakeCharacter, SkinnedInstance, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import * as THREE from 'three';
import { createWorld } from '../lib/createWorld.js';
import type { Program } from '../lib/Program.js';
import { random } from '../lib/random.js';
import { createGiraffe, createPenguin, createZebra } from '../models/animals.js';
import type { Model } from '../models/boxes.js';
import { createVisitor } from '../models/people.js';

/** Metres a second of the gaits of a model that is as large as it was made. */
type Gaits = Record<string, number>;
const ON_HOOVES = { Idle: 0, Graze: 0, Walk: 1.1, Run: 3.4 };
const WADDLING = { Idle: 0, Graze: 0, Walk: 0.35, Run: 0.8 };
const ON_FOOT = { Idle: 0, Walk: 1.03, Wave: 0, Dance: 0 };

export function createZoo(count: number): Program {
  const { scene, camera } = createWorld(11, 0x86a06a);
  const chance = random(3);
  const guests: Guest[] = [];
  const crowds = new Map<Model, SkinnedInstancedMesh>();
  type Guest = ReturnType<typeof createGuest>;

  const hatGeometry = new THREE.CylinderGeometry(0.13, 0.15, 0.14, 10).translate(0, 0.24, 0);
  const balloonGeometry = new THREE.SphereGeometry(0.2, 10, 8).translate(0, 1.3, 0);
  const stringGeometry = new THREE.CylinderGeometry(0.008, 0.008, 1.2, 4).translate(0, 0.6, 0);
  const stringMaterial = new THREE.MeshStandardMaterial({ color: 0xffffff });

  /**
   * @param x Where the middle of its ground is, metres.
   * @param reach Metres that it may be from there.
   */
  function createGuest(gltf: Model, gaits: Gaits, x: number, z: number, reach: number, size: number) {
    const crowd = crowds.get(gltf) ?? new SkinnedInstancedMesh(bakeCharacter(gltf.scene, gltf.animations), 0);
    crowds.set(gltf, crowd);
    scene.add(crowd);
    const model = new SkinnedInstance(crowd);
    model.color.setHSL(chance(), 0.35, 0.8);
    model.scale.setScalar(size);
    model.rotation.y = chance() * 2 * Math.PI;
    model.position.set(x + reach * (2 * chance() - 1), 0, z + reach * (2 * chance() - 1));
    scene.add(model);

    const mixer = model;
    mixer.timeScale = (0.9 + 0.2 * chance()) / size; // small ones are quicker
    const actions = Object.fromEntries(gltf.animations.map((clip) => [clip.name, mixer.clipAction(clip)]));
    const names = Object.keys(gaits);
    let gait = names[Math.floor(chance() * names.length)];
    let speed = gaits[gait];
    let until = 0.3 + 2 * chance();
    let turning = 0;
    actions[gait].play().time = chance();

    function change(): void {
      const next = names[Math.floor(chance() * names.length)];
      until = 1 + 2 * chance();
      turning = chance() - 0.5;
      if (next === gait) return;
      const { [gait]: from, [next]: to } = actions;
      to.reset().play();
      from.crossFadeTo(to, 0.45, false);
      gait = next;
    }

    return {
      model,
      mixer,
      update(delta: number): void {
        until -= delta;
        if (until < 0) change();
        speed += (gaits[gait] - speed) * Math.min(1, 5 * delta);
        const { position } = model;
        const outside = Math.hypot(position.x - x, position.z - z) > reach;
        const home = Math.atan2(x - position.x, z - position.z) - model.rotation.y;
        model.rotation.y += delta * (outside && speed > 0.1 ? 2.5 * Math.sin(home) : turning);
        model.translateZ(speed * mixer.timeScale * size * size * delta);
      },
    };
  }

  const balloons: THREE.Group[] = [];

  function createVisitorOf(gltf: Model, x: number): Guest {
    const guest = createGuest(gltf, ON_FOOT, x, 6.5, 1.5, 0.75 + 0.3 * chance());
    const paint = new THREE.MeshStandardMaterial({
      color: new THREE.Color().setHSL(chance(), 0.7, 0.5),
      roughness: 0.4,
    });
    if (chance() < 0.5) guest.model.getObjectByName('Head')?.add(new THREE.Mesh(hatGeometry, paint));
    else {
      const balloon = new THREE.Group().add(
        new THREE.Mesh(balloonGeometry, paint),
        new THREE.Mesh(stringGeometry, stringMaterial),
      );
      guest.model.getObjectByName('LeftHand')?.add(balloon);
      balloons.push(balloon);
    }
    return guest;
  }

  const [zebra, giraffe, penguin, visitor] = [
    createZebra(),
    createGiraffe(),
    createPenguin(),
    createVisitor(),
  ];
  for (let i = 0; i < count; i++) {
    const size = i % 3 === 2 ? 0.6 : 1; // some are young
    guests.push(
      [
        () => createGuest(zebra, ON_HOOVES, -5.5, -2.5, 3.5, size),
        () => createGuest(giraffe, ON_HOOVES, 5, -3.5, 3, size),
        () => createGuest(penguin, WADDLING, 0, 2, 1.8, size),
        () => createVisitorOf(visitor, (i / count - 0.5) * 16),
      ][i % 4](),
    );
  }

  const turned = new THREE.Quaternion();

  function update(delta: number): void {
    for (const crowd of crowds.values()) crowd.update(delta);
    for (const guest of guests) guest.update(delta);
    // balloons rise, however hands are turned
    for (const balloon of balloons) {
      balloon.parent?.getWorldQuaternion(turned);
      balloon.quaternion.copy(turned.invert());
    }
  }

  return { scene, camera, update };
}
